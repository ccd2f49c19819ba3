#!/usr/bin/env bash
# Prints what CHANGELOG.md says about a version, for the page of its release: notes.sh VERSION
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
changelog=${CHANGELOG:-$root/CHANGELOG.md}
notes=$(awk -v version="$1" '/^## / { inside = ($2 == version); next } inside' "$changelog")
if [ -z "${notes//[[:space:]]/}" ]; then
    echo "CHANGELOG.md has no section \"## $1\": give what is unreleased this heading" >&2
    exit 1
fi
printf '%s\n' "$notes"
