#!/usr/bin/env bash
# How long a new user waits: from a fresh copy of the repository to the first verdict, and from the start of an editor to the first error that
# is underlined. It measures, and tests nothing.
#
#     tests/editor/first-error.sh [FABIUS]
#
# FABIUS is a binary to measure; without it, the repository is cloned into a temporary folder and built there as the README says, which
# takes minutes and is measured, too.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export FABIUS_CACHE=off

now() { date +%s%N; }
since() { echo "$((($(now) - $1) / 1000000)) ms"; } # since START

model=models/peterson_broken.pml
if [ $# -gt 0 ]; then
    fabius=$(realpath "$1")
else
    start=$(now)
    git clone --quiet "$root" "$work/fabius"
    (cd "$work/fabius" && cargo run --quiet --release -- check $model >/dev/null) || [ $? = 1 ]
    echo "clone, build and first verdict: $(since "$start")"
    fabius=$work/fabius/target/release/fabius
fi

cp "$root/$model" "$work/model.pml"
start=$(now)
"$fabius" check "$work/model.pml" >/dev/null || [ $? = 1 ]
echo "fabius check: $(since "$start")"

command -v nvim >/dev/null || {
    echo "no Neovim here: it is not measured"
    exit 0
}
cd "$work"
# The first start of an editor also fills its own caches; the second one is what a user sees from then on.
for run in first second; do
    line=$(START=$(now) FABIUS=$fabius MODEL=model.pml nvim --headless -u NONE -n -c "luafile $root/tests/editor/first-error.lua" 2>&1)
    echo "Neovim, $run start: $line"
done
