#!/bin/sh
# Checks models in a step of GitHub Actions. What to do comes in environment variables, never as text of this script, so
# that names of files and inputs cannot become commands. See action.yml for what they mean.
set -eu

newline='
'
fabius=${FABIUS:-fabius}
format=${FORMAT:-github}

if ! command -v "$fabius" >/dev/null 2>&1; then
    echo "::error title=fabius is missing::Install fabius in an earlier step, or name the program with the input fabius."
    exit 3
fi

# The patterns, one on each line; what they match is not split again.
set --
old_ifs=$IFS
IFS=$newline
for match in ${MODELS:-*.pml}; do
    if [ -f "$match" ]; then
        set -- "$@" "$match"
    fi
done
IFS=$old_ifs
if [ $# -eq 0 ]; then
    echo "::error title=no models::No file matches the input models."
    exit 3
fi

# More flags are words, not patterns.
set -f
set -- check --format "$format" ${OUTPUT:+--output "$OUTPUT"} ${BASELINE:+--baseline "$BASELINE"} ${ARGS:-} -- "$@"
set +f

log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
"$fabius" "$@" >"$log" || code=$?
cat "$log"

if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "exit-code=$code" >>"$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ "$format" = github ]; then
    tail -n 1 "$log" >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$code" -eq 2 ] && [ "${ALLOW_UNDECIDED:-false}" = true ]; then
    code=0
fi
exit "$code"
