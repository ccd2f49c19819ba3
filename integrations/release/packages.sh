#!/usr/bin/env bash
# Writes what other package managers need, from the archives of a release: packages.sh FOLDER-OF-ARCHIVES OUTPUT-FOLDER
#
#   fabius.rb      a formula for a Homebrew tap
#   PKGBUILD       the package fabius-bin of the Arch User Repository
#   fabius.nix     a derivation for Nix: nix-build -E 'with import <nixpkgs> {}; callPackage ./fabius.nix {}'
#
# Version and address come from Cargo.toml, checksums from the archives; an archive that is missing is an error.
set -euo pipefail
archives=$1 out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
field() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$root/Cargo.toml" | head -1; }
version=$(field version)
repository=$(field repository)
# Of the program, not of its first crate.
description=$(sed -n '/^name = "fabius"$/,$ s/^description = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -1)
downloads=$repository/releases/download/v$version
checksum() { # checksum TARGET
    sha256sum "$archives/fabius-$1.tgz" | cut -d ' ' -f 1
}
mkdir -p "$out"

asset() { # asset TARGET: where Homebrew finds it
    printf '      url "%s/fabius-%s.tgz"\n      sha256 "%s"\n' "$downloads" "$1" "$2"
}
targets=(aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-gnu x86_64-unknown-linux-gnu x86_64-unknown-linux-musl)
declare -A sum
for target in "${targets[@]}"; do sum[$target]=$(checksum "$target"); done

cat >"$out/fabius.rb" <<FORMULA
class Fabius < Formula
  desc "Model checker for Promela that shows counterexamples where they happen"
  homepage "$repository"
  version "$version"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
$(asset aarch64-apple-darwin "${sum[aarch64-apple-darwin]}")
    end
    on_intel do
$(asset x86_64-apple-darwin "${sum[x86_64-apple-darwin]}")
    end
  end

  on_linux do
    on_arm do
$(asset aarch64-unknown-linux-gnu "${sum[aarch64-unknown-linux-gnu]}")
    end
    on_intel do
$(asset x86_64-unknown-linux-musl "${sum[x86_64-unknown-linux-musl]}")
    end
  end

  def install
    bin.install "fabius"
    man1.install "fabius.1"
    bash_completion.install "completions/fabius.bash" => "fabius"
    zsh_completion.install "completions/fabius.zsh" => "_fabius"
    fish_completion.install "completions/fabius.fish"
  end

  test do
    (testpath/"model.pml").write "active proctype P() { byte x; x = 1; assert(x == 1) }\n"
    assert_match "holds", shell_output("#{bin}/fabius check model.pml")
  end
end
FORMULA

cat >"$out/PKGBUILD" <<PKGBUILD
# Maintainer: whoever keeps it in the Arch User Repository
pkgname=fabius-bin
pkgver=$version
pkgrel=1
pkgdesc='$description'
arch=(x86_64 aarch64)
url='$repository'
license=(MIT Apache-2.0)
depends=(glibc gcc-libs)
provides=(fabius)
conflicts=(fabius)
options=(!strip)
source_x86_64=("fabius-\$pkgver-x86_64.tgz::$downloads/fabius-x86_64-unknown-linux-gnu.tgz")
source_aarch64=("fabius-\$pkgver-aarch64.tgz::$downloads/fabius-aarch64-unknown-linux-gnu.tgz")
sha256sums_x86_64=('${sum[x86_64-unknown-linux-gnu]}')
sha256sums_aarch64=('${sum[aarch64-unknown-linux-gnu]}')

package() {
    cd "fabius-\$CARCH-unknown-linux-gnu"
    install -Dm755 fabius "\$pkgdir/usr/bin/fabius"
    install -Dm644 fabius.1 "\$pkgdir/usr/share/man/man1/fabius.1"
    install -Dm644 completions/fabius.bash "\$pkgdir/usr/share/bash-completion/completions/fabius"
    install -Dm644 completions/fabius.zsh "\$pkgdir/usr/share/zsh/site-functions/_fabius"
    install -Dm644 completions/fabius.fish "\$pkgdir/usr/share/fish/vendor_completions.d/fabius.fish"
    install -Dm644 LICENSE-MIT "\$pkgdir/usr/share/licenses/\$pkgname/LICENSE-MIT"
}
PKGBUILD

cat >"$out/fabius.nix" <<NIX
{ lib, stdenv, fetchurl, installShellFiles, autoPatchelfHook }:

let
  targets = {
    x86_64-linux = { target = "x86_64-unknown-linux-musl"; sha256 = "${sum[x86_64-unknown-linux-musl]}"; };
    aarch64-linux = { target = "aarch64-unknown-linux-gnu"; sha256 = "${sum[aarch64-unknown-linux-gnu]}"; };
    x86_64-darwin = { target = "x86_64-apple-darwin"; sha256 = "${sum[x86_64-apple-darwin]}"; };
    aarch64-darwin = { target = "aarch64-apple-darwin"; sha256 = "${sum[aarch64-apple-darwin]}"; };
  };
  system = stdenv.hostPlatform.system;
  asset = targets.\${system} or (throw "fabius: no archive for \${system}");
in
stdenv.mkDerivation {
  pname = "fabius";
  version = "$version";
  src = fetchurl {
    url = "$downloads/fabius-\${asset.target}.tgz";
    inherit (asset) sha256;
  };
  nativeBuildInputs = [ installShellFiles ] ++ lib.optional (system == "aarch64-linux") autoPatchelfHook;
  buildInputs = lib.optional (system == "aarch64-linux") stdenv.cc.cc.lib;
  installPhase = ''
    install -Dm755 fabius \$out/bin/fabius
    installManPage fabius.1
    installShellCompletion --cmd fabius --bash completions/fabius.bash --zsh completions/fabius.zsh --fish completions/fabius.fish
  '';
  meta = {
    description = "$description";
    homepage = "$repository";
    license = with lib.licenses; [ mit asl20 ];
    mainProgram = "fabius";
    platforms = builtins.attrNames targets;
  };
}
NIX
