#!/bin/sh
# Builds the command for a target, and puts it into target/release-files/blpk-VERSION-TARGET.tar.gz with its manual pages,
# completions and licences: contrib/archive.sh [TARGET]
set -eu
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
cargo build --locked --release -p blpk --target "$target"
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
name=blpk-$version-$target
folder=target/release-files/$name
rm -rf "$folder"
contrib/pages.sh "target/$target/release/blpk" "$folder"
cp "target/$target/release/blpk" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder"
tar -C target/release-files -czf "$folder.tar.gz" "$name"
rm -r "$folder"
echo "$folder.tar.gz"
