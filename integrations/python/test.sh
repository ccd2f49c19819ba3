#!/usr/bin/env bash
# Tests the Python package: installs it into a fresh virtual environment and asks the real program. FABIUS_BINARY names that;
# otherwise target/ci/fabius, which ./test builds.
set -euo pipefail
cd "$(dirname "$0")"

if ! python3 -c "import sys; sys.exit(sys.version_info < (3, 9))" >/dev/null 2>&1; then
    echo "no Python 3.9 or later here: the Python package is not tested"
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
# A copy, so that what is built beside the sources does not stay.
cp -r pyproject.toml README.md src "$room"

# Where an environment can be made, and setuptools is there or can be fetched, the package is installed; else it is used as it lies.
installed() {
    python3 -m venv "$room/venv" || return 1
    local pip=("$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check)
    timeout 120 "${pip[@]}" "$room" || timeout 120 "${pip[@]}" --no-build-isolation "$room"
}
python=$room/venv/bin/python
if ! installed >"$room/log" 2>&1; then
    tail -3 "$room/log"
    echo "the Python package could not be installed into a new environment: it is tested without that"
    [ -z "${FABIUS_SKIPPED:-}" ] || echo "installing the Python package: no environment could be made, or no setuptools" >>"$FABIUS_SKIPPED"
    python=python3
    export PYTHONPATH=$room/src
fi
FABIUS=$binary FABIUS_CACHE=off "$python" tests/test_fabius.py
