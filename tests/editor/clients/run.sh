#!/usr/bin/env bash
# Tries the language server in real editors: a newer Neovim (counts in utf-16), Helix (utf-8), Emacs with eglot (utf-32).
#
#     tests/editor/clients/run.sh [FABIUS]
#
# FABIUS is the binary to try (default: target/debug/fabius, built first). Editors that are new enough and installed here are
# used; the others come from a small Debian system in a folder ($FABIUS_CLIENTS, default ~/.cache/fabius-clients,
# 500 MB), which needs root and debootstrap once. Helix is watched through tmux.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -gt 0 ]; then fabius=$(realpath "$1"); else
    (cd "$here/../../.." && cargo build --quiet)
    fabius=${CARGO_TARGET_DIR:-$here/../../../target}/debug/fabius
fi
clients=${FABIUS_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/fabius-clients}
work=$(mktemp -d)
session=fabius-clients-$$
trap 'tmux kill-session -t "$session" 2>/dev/null || true; rm -rf "$work" "$clients$work"' EXIT
failures=0

is_new_enough() {
    case $1 in
        nvim) nvim --version 2>/dev/null | grep -Eq '^NVIM v(0\.1[0-9]|[1-9])' ;;
        hx) hx --version >/dev/null 2>&1 ;;
        emacs) emacs --version 2>/dev/null | grep -Eq '^GNU Emacs (29|[3-9][0-9])' ;;
    esac
}

# The small Debian system, with the newest stable editors.
provide() {
    # Some are links that make sense only inside.
    [ -L "$clients/usr/bin/emacs" ] && ls "$clients/usr/bin/hx" "$clients/usr/bin/nvim" >/dev/null 2>&1 && return
    if [ "$(id -u)" != 0 ]; then
        echo "an editor is missing; run this as root once, or install neovim 0.10, helix and emacs 29" >&2
        return 1
    fi
    command -v debootstrap >/dev/null || apt-get install -y -qq debootstrap >/dev/null
    echo "making $clients (some minutes, once)"
    debootstrap --variant=minbase --include=neovim,hx,emacs-nox trixie "$clients" >"$work/debootstrap.log" 2>&1 || {
        tail -n 5 "$work/debootstrap.log" >&2
        return 1
    }
}

# How an editor is started: from here, or inside of the small system. The folder of the test is the same in both.
started() {
    if is_new_enough "$1"; then echo "env"; else echo "$work/inside $clients"; fi
}

for editor in nvim hx emacs; do is_new_enough "$editor" || { provide; break; }; done
mkdir -p "$work/home"
# Helix wants to see its own process; what is mounted for it is gone when it ends.
cat >"$work/inside" <<'END'
#!/bin/sh
exec unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env "$@"' "$@"
END
chmod +x "$work/inside"
cp "$fabius" "$work/fabius"
cp "$here"/*.lua "$here"/*.el "$work"
# One folder for each editor, with a configuration for Helix.
for editor in nvim hx emacs; do mkdir -p "$work/$editor" && cp "$here/model.pml" "$work/$editor"; done
mkdir -p "$work/home/.config/helix"
cp "$here/languages.toml" "$here/config.toml" "$work/home/.config/helix"
if [ -d "$clients" ]; then mkdir -p "$clients$work" && cp -r "$work/." "$clients$work"; fi
settings="HOME=$work/home XDG_CONFIG_HOME=$work/home/.config FABIUS=$work/fabius FABIUS_CACHE=off PATH=$work:/usr/bin:/bin LANG=C.UTF-8 LC_ALL=C.UTF-8"

verdict() { # verdict NAME CODE
    if [ "$2" = 0 ]; then echo "== $1: good"; else echo "== $1: FAILED"; failures=1; fi
}

echo "== neovim"
code=0
# shellcheck disable=SC2086
timeout 300 $(started nvim) $settings MODEL="$work/nvim/model.pml" nvim --headless -u NONE -n -l "$work/neovim-new.lua" || code=$?
verdict neovim "$code"

echo "== emacs"
code=0
# shellcheck disable=SC2086
timeout 300 $(started emacs) $settings MODEL="$work/emacs/model.pml" emacs --batch -Q -l "$work/eglot.el" || code=$?
verdict emacs "$code"

echo "== helix"
screen() { tmux capture-pane -p -t "$session"; }
sees() { # sees WHAT PATTERN: waits until the screen shows it
    for _ in $(seq 600); do
        screen | grep -Eq "$2" && { echo "$1"; return 0; }
        sleep 0.1
    done
    echo "$1 did not come; the screen:" && screen
    return 1
}
helix() {
    # shellcheck disable=SC2086
    tmux new-session -d -s "$session" -x 110 -y 30 "$(started hx) $settings TERM=tmux-256color COLORTERM=truecolor hx $work/hx/model.pml 2>$work/hx.log"
    sees "the assertion is underlined" 'this assertion can fail' || return 1
    # To the first diagnostic, and replace what is selected there: only if the columns are right, behind the emoji, is this the
    # statement.
    tmux send-keys -t "$session" 'g' 'g' ']' 'd' ; sleep 1
    tmux send-keys -t "$session" 'c' ; tmux send-keys -t "$session" -l 'skip' ; tmux send-keys -t "$session" Escape
    sees "what is underlined is the assertion" 'ä \*/ skip;' || return 1
    tmux send-keys -t "$session" -l ':w' ; tmux send-keys -t "$session" Enter
    for _ in $(seq 600); do
        screen | grep -Eq 'can fail' || { echo "the assertion is gone"; break; }
        sleep 0.1
    done
    ! screen | grep -Eq 'can fail' || { echo "the assertion does not go:"; screen; return 1; }
    # Hover: what a name is, in a box.
    tmux send-keys -t "$session" 'g' 'g' 'w' 'w' ; tmux send-keys -t "$session" Space ; tmux send-keys -t "$session" 'k'
    sees "hover says what the name is" 'byte turn' || return 1
    tmux send-keys -t "$session" Escape ; tmux send-keys -t "$session" -l ':q!' ; tmux send-keys -t "$session" Enter
}
if command -v tmux >/dev/null; then
    code=0
    helix || code=$?
    verdict helix "$code"
else
    echo "tmux is missing: skipped"
fi
exit $failures
