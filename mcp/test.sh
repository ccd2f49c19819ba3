#!/usr/bin/env bash
# Tests `fabius mcp` with the protocol's own client library for Python, in a fresh virtual environment. FABIUS_BINARY names the program;
# otherwise target/ci/fabius, which ./test builds. (tests/command_line/mcp.rs has the tests that need no other library.)
set -euo pipefail
cd "$(dirname "$0")"

skip() { # skip WHY
    echo "$1: the server for assistants is not tested with the client library"
    [ -z "${FABIUS_SKIPPED:-}" ] || echo "the server for assistants with a client library: $1" >>"$FABIUS_SKIPPED"
    exit 0
}
binary=$(realpath "${FABIUS_BINARY:-${CARGO_TARGET_DIR:-../target}/ci/fabius}")
if [ ! -x "$binary" ]; then
    echo "$binary is missing: run ./test, or name a program in FABIUS_BINARY" >&2
    exit 1
fi
python3 -c "import sys; sys.exit(sys.version_info < (3, 10))" >/dev/null 2>&1 || {
    [[ ,${FABIUS_REQUIRE:-}, != *,python,* ]] || { echo "no Python 3.10 or later here" >&2; exit 1; }
    skip "no Python 3.10 or later here"
}

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
{ python3 -m venv "$room/venv" && timeout 180 "$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check "mcp>=1.9"; } \
    >"$room/log" 2>&1 || { tail -3 "$room/log"; skip "the package \`mcp\` could not be installed"; }
FABIUS=$binary FABIUS_CACHE=off "$room/venv/bin/python" tests/client.py
