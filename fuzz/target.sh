#!/bin/sh
# Runs one target under AddressSanitizer, with the limits that apply to every target:
#
#     fuzz/target.sh TARGET INPUT... [-- OPTION...]
#
# An INPUT is a file to run once, or a folder to fuzz from; new inputs go to the first folder.
# Options are those of libFuzzer. Inputs that fail go to fuzz/artifacts/TARGET.
#
# Sanitizers are an unstable option of the compiler. RUSTC_BOOTSTRAP allows it on stable, and is
# set nowhere else.
set -eu
cd "$(dirname "$0")/.."
if [ $# -lt 2 ]; then
    echo "usage: fuzz/target.sh TARGET INPUT... [-- OPTION...]" >&2
    exit 2
fi
if ! cargo fuzz --version > /dev/null 2>&1; then
    echo "fuzz/target.sh: cargo-fuzz is missing: cargo install cargo-fuzz --locked" >&2
    exit 1
fi
export RUSTC_BOOTSTRAP=1
# libdeflate contains its tables twice by design, which the sanitizer would report. It also keeps
# freed memory to detect later use: by default 256 MB of the 512 MB limit.
export ASAN_OPTIONS=detect_odr_violation=0:quarantine_size_mb=64
# gcc checks the scope of a static table in zstd, which has none.
export CFLAGS=-fno-sanitize-address-use-after-scope
target=$1
shift
# The feature that the manifest requires for the target, if any.
features=$(sed -n "/^name = \"$target\"/,/^\$/s/^required-features = \[\"\(.*\)\"\]/\1/p" fuzz/Cargo.toml)
separator=--
for argument; do
    [ "$argument" != -- ] || separator=
done
# shellcheck disable=SC2086 # No word if empty.
exec cargo fuzz run --sanitizer address ${features:+--features "$features"} "$target" "$@" $separator \
    -rss_limit_mb=512 -timeout=5 -max_len=65536
