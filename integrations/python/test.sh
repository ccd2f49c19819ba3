#!/usr/bin/env bash
# Tests the Python package: installs it into a fresh virtual environment and asks the real program. FABIUS_BINARY names that;
# otherwise target/ci/fabius, which ./test builds.
set -euo pipefail
cd "$(dirname "$0")"

if ! python3 -m venv --help >/dev/null 2>&1 || ! python3 -m pip --version >/dev/null 2>&1; then
    echo "no Python with venv and pip here: the Python package is not tested"
    [[ ,${FABIUS_REQUIRE:-}, != *,python,* ]] || exit 1
    [ -z "${FABIUS_SKIPPED:-}" ] || echo "the Python package: \`python\` is missing: not found" >>"$FABIUS_SKIPPED"
    exit 0
fi
binary=$(realpath "${FABIUS_BINARY:-${CARGO_TARGET_DIR:-../../target}/ci/fabius}")
if [ ! -x "$binary" ]; then
    echo "$binary is missing: run ./test, or name a program in FABIUS_BINARY" >&2
    exit 1
fi

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
python3 -m venv "$room/venv"
# A copy, so that what pip builds beside the sources does not stay.
cp -r pyproject.toml README.md src "$room"
pip=("$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check)
# Without a network, with the setuptools that the environment has.
"${pip[@]}" "$room" || "${pip[@]}" --no-build-isolation "$room"
FABIUS=$binary FABIUS_CACHE=off "$room/venv/bin/python" tests/test_fabius.py
