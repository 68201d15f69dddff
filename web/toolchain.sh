#!/usr/bin/env bash
# Runs a command with a compiler for wasm32:
#
#   web/toolchain.sh cargo build -Zbuild-std=std,panic_abort --target wasm32-unknown-unknown
#
# With `rustup target add wasm32-unknown-unknown` there is no need for it. It takes Debian's rustc-web and the source of its standard
# library, unpacked into `target/cross` (130 MB, 0.8 GB unpacked), as `contrib/cross.sh` does for other platforms.
set -euo pipefail
cross=$(cd "$(dirname "$0")/.." && pwd)/target/cross
root=$cross/root
mkdir -p "$cross/dl"
exec 9> "$cross/lock"
flock 9
command -v wasm-ld-22 > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends lld-22; } > /dev/null
if [ ! -f "$cross/unpacked" ]; then
    (cd "$cross/dl" && apt-get download -qq rustc-web cargo-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 \
        libllvm22 libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 libmbedx509-1 libmbedtls14 2> /dev/null)
    for package in "$cross"/dl/*.deb; do
        dpkg -x "$package" "$root"
        rm "$package"
    done
    touch "$cross/unpacked"
fi
unset RUSTUP_TOOLCHAIN
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu PATH=$root/usr/bin:$PATH RUSTC_BOOTSTRAP=1
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22
if [ ! -f "$cross/fetched" ]; then
    (cd "$root/usr/lib/rustlib/src/rust/library" && cargo fetch --quiet --locked)
    touch "$cross/fetched"
fi
flock -u 9
exec 9>&-
exec "$@"
