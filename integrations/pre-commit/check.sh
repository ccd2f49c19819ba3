#!/bin/sh
# Checks the models that are about to be committed. A violation and a faulty model stop the commit. A model that is not
# decided within the time (FABIUS_TIMEOUT, 10 seconds for each) does not: a longer check belongs in continuous integration.
set -eu

fabius=${FABIUS:-fabius}
if ! command -v "$fabius" >/dev/null 2>&1; then
    echo "fabius is not on the PATH: install it, or set FABIUS to the program" >&2
    exit 3
fi

code=0
"$fabius" check --timeout "${FABIUS_TIMEOUT:-10s}" -- "$@" || code=$?
if [ "$code" -eq 2 ]; then
    echo "not decided within ${FABIUS_TIMEOUT:-10s}: the commit goes on" >&2
    code=0
fi
exit "$code"
