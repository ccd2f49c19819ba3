#!/usr/bin/env bash
# Tries the debugger in Neovim with the plugin nvim-dap.
#
#     NVIM_DAP=FOLDER tests/editor/clients/nvim-dap.sh [FABIUS]
#
# NVIM_DAP is a copy of https://github.com/mfussenegger/nvim-dap (version 0.3.0 for Neovim 0.7, a newer one for a newer Neovim);
# FABIUS is the binary to try (default: target/debug/fabius, built first).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(realpath "$here/../../..")
: "${NVIM_DAP:?is not set; it names a copy of nvim-dap}"
if [ $# -gt 0 ]; then fabius=$(realpath "$1"); else
    (cd "$root" && cargo build --quiet)
    fabius=${CARGO_TARGET_DIR:-$root/target}/debug/fabius
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/models/peterson_broken.pml" "$work/model.pml"
FABIUS=$fabius MODEL=$work/model.pml FABIUS_CACHE=off XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data \
    nvim --headless --clean --cmd "set runtimepath^=$NVIM_DAP" -c "luafile $here/nvim-dap.lua"
