#!/usr/bin/env bash
# Runs the test of mutated chunks through the C functions under valgrind.
# usage: tests/capi/valgrind.sh [CASES]   (default: 300)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
binary=$(cargo test --locked --no-run -p blosc1-capi --lib --message-format=json 2> /dev/null |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
# valgrind does not support AVX-512: it sees the kernels below that.
BLOSCPACK_MUTATED=${1:-300} valgrind --quiet --error-exitcode=9 "$binary" --test-threads=1 hostile::
