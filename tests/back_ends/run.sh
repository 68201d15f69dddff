#!/usr/bin/env bash
# Two builds, with C and without, read each other's random chunks: `tests/back_ends/run.sh [COUNT]`. With `time`, measures both.
set -euo pipefail
cd "$(dirname "$0")"
for build in with-c pure; do
    cargo build --locked --quiet --release --features "$build" --target-dir "target/$build"
done
run() { "target/$1/release/back-ends" "${@:2}"; }
if [ "${1:-}" = time ]; then
    for build in with-c pure with-c pure; do
        echo "$build"
        run "$build" time
    done
    exit
fi
for build in with-c pure; do run "$build" write "target/$build.chunks" "${1:-20000}"; done
run pure read target/with-c.chunks
run with-c read target/pure.chunks
