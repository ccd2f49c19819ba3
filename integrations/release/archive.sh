#!/usr/bin/env bash
# Packs a built program for a release: archive.sh TARGET FOLDER-OF-THE-PROGRAM OUTPUT-FOLDER
set -euo pipefail
target=$1 built=$2 out=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
suffix=
[[ $target != *windows* ]] || suffix=.exe
name=fabius-$target
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/$name/completions" "$out"
out=$(cd "$out" && pwd)
cp "$built/fabius$suffix" "$room/$name/"
cp "$root"/{README.md,CHANGELOG.md,LICENSE-MIT,LICENSE-APACHE} "$room/$name/"
program=$room/$name/fabius$suffix
for shell in bash zsh fish elvish powershell; do
    "$program" completions "$shell" >"$room/$name/completions/fabius.$shell"
done
"$program" man >"$room/$name/fabius.1"
cd "$room"
if [ -n "$suffix" ]; then
    7z a -tzip "$out/$name.zip" "$name" >/dev/null
else
    tar --create --gzip --file "$out/$name.tgz" "$name"
fi
