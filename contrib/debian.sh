#!/bin/sh
# Builds a Debian package, target/release-files/blpk_VERSION_ARCH.deb. Needs cargo-deb: cargo install --locked cargo-deb
set -eu
cd "$(dirname "$0")/.."
cargo build --locked --release -p blpk
contrib/pages.sh target/release/blpk target/pages
mkdir -p target/release-files
cargo deb --locked --no-build --package blpk --output target/release-files/
