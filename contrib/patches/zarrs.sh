#!/usr/bin/env bash
# Applies the patch to the published zarrs, runs its tests of the codec `blosc` with the crate `blosc1` of this tree, and copies
# arrays of zarr-python with it.
# usage: contrib/patches/zarrs.sh
# TIMES=1: also reads an array with and without the patch, and prints the seconds of both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
version=0.23.14
work=$root/target/zarrs

# Cargo itself brings the package: as a dependency of a crate that does nothing.
mkdir -p "$work/fetch/src"
touch "$work/fetch/src/lib.rs"
cat > "$work/fetch/Cargo.toml" << END
[package]
name = "fetch"
version = "0.0.0"
edition = "2024"
[dependencies]
zarrs = { version = "=$version", default-features = false }
[workspace]
END
cargo fetch --quiet --manifest-path "$work/fetch/Cargo.toml"
manifest=$(cargo metadata --format-version 1 --manifest-path "$work/fetch/Cargo.toml" |
    python3 -c 'import json, sys
print(*(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "zarrs"))')

rm -rf "$work/zarrs"
cp -r "$(dirname "$manifest")" "$work/zarrs"
cd "$work/zarrs"
patch --quiet --strip 1 < "$root/contrib/patches/zarrs-$version.patch"
cp "$root/contrib/patches/zarr/copy_array.rs" examples/
example='[[example]]
name = "copy_array"
path = "examples/copy_array.rs"
'
cat >> Cargo.toml << END

$example
[patch.crates-io]
blosc1 = { path = "$root/crates/blosc1" }

[workspace]
END
# Other tests of Blosc read files that the package lacks.
cargo test --target-dir "$work/target" --lib codec::bytes_to_bytes::blosc

cargo build --target-dir "$work/target" --example copy_array
if [ ! -x "$work/venv/bin/python" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check zarr==3.1.6 numcodecs==0.16.6
fi
rm -rf "$work/arrays"
mkdir -p "$work/arrays"
"$work/venv/bin/python" "$root/contrib/patches/zarr/arrays.py" "$work/target/debug/examples/copy_array" "$work/arrays"

if [ -n "${TIMES:-}" ]; then
    rm -rf "$work/original"
    cp -r "$(dirname "$manifest")" "$work/original"
    cp "$root/contrib/patches/zarr/copy_array.rs" "$work/original/examples/"
    printf '\n%s\n[workspace]\n' "$example" >> "$work/original/Cargo.toml"
    cargo build --release --target-dir "$work/target" --example copy_array
    cargo build --release --manifest-path "$work/original/Cargo.toml" --target-dir "$work/target-original" --example copy_array
    "$work/venv/bin/python" "$root/contrib/patches/zarr/times.py" \
        "$work/target/release/examples/copy_array" "$work/target-original/release/examples/copy_array" "$work/arrays"
fi
