#!/usr/bin/env bash
# Makes a package for Debian and Ubuntu of a built program: deb.sh ARCHITECTURE FOLDER-OF-THE-PROGRAM OUTPUT-FOLDER
# ARCHITECTURE is amd64 or arm64.
set -euo pipefail
architecture=$1 built=$2 out=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -1)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
program=$built/fabius
usr=$room/usr
mkdir -p "$usr/bin" "$usr/share/man/man1" "$usr/share/doc/fabius" "$usr/share/bash-completion/completions" \
    "$usr/share/zsh/vendor-completions" "$usr/share/fish/vendor_completions.d" "$room/DEBIAN" "$out"
install -m 755 "$program" "$usr/bin/fabius"
"$program" man | gzip -9n >"$usr/share/man/man1/fabius.1.gz"
"$program" completions bash >"$usr/share/bash-completion/completions/fabius"
"$program" completions zsh >"$usr/share/zsh/vendor-completions/_fabius"
"$program" completions fish >"$usr/share/fish/vendor_completions.d/fabius.fish"
cp "$root"/{README.md,LICENSE-MIT,LICENSE-APACHE} "$usr/share/doc/fabius/"
printf 'Fabius is published under the MIT licence or the Apache License 2.0, as you choose; both texts lie beside this file.\n' \
    >"$usr/share/doc/fabius/copyright"
gzip -9n <"$root/CHANGELOG.md" >"$usr/share/doc/fabius/changelog.gz"
# A program needs at least the version of the C library that its newest symbol is from.
glibc=$(grep -ao 'GLIBC_2\.[0-9]*' "$program" | sort --version-sort --unique | tail -1 | cut -d _ -f 2 || true)
cat >"$room/DEBIAN/control" <<CONTROL
Package: fabius
Version: $version
Architecture: $architecture
Maintainer: ${DEB_MAINTAINER:-the authors of Fabius <nobody@example.invalid>}
Section: science
Priority: optional
Depends: libc6${glibc:+ (>= $glibc)}, libgcc-s1
Description: model checker for Promela that shows counterexamples where they happen
 Checks models of concurrent systems for failed assertions, deadlocks,
 livelocks and violated formulas, on the command line, in a terminal explorer
 and in editors, and says how a scheduler could avoid what it finds.
CONTROL
find "$room" -type d -exec chmod 755 {} +
find "$usr" -type f ! -path "$usr/bin/*" -exec chmod 644 {} +
dpkg-deb --build --root-owner-group "$room" "$out/fabius_${version}_$architecture.deb" >/dev/null
