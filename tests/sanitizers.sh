#!/usr/bin/env bash
# The tests under AddressSanitizer and LeakSanitizer, and the SIMD filters under valgrind.
# usage: tests/sanitizers.sh [address|valgrind] [ARGUMENTS OF cargo test]
#   Without a word: both, the whole suite. With arguments, e.g. `address --test hostile`: that part of it.
# Sanitizers are an unstable option of the compiler, which is why it is told to take them, here and nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-all}
[ $# -eq 0 ] || shift
host=$(rustc --version --verbose | sed -n 's/^host: //p')

address() {
    # libdeflate has tables that are there twice by design, and some tests ask for more memory than there is; the
    # sanitizer would end at that.
    export ASAN_OPTIONS="detect_odr_violation=0:detect_leaks=1:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
    # gcc checks the scope of a table in zstd that has none, being static.
    export CFLAGS="-fno-sanitize-address-use-after-scope ${CFLAGS:-}"
    export BLOSCPACK_SLOWDOWN=4
    # What was freed is kept for a while, so that work that is done for long seems to take more and more.
    [ $# -gt 0 ] || set -- --tests -- --skip long_work_takes_no_more_than_short_work
    # With a target of its own, build scripts and macros are built without the sanitizer.
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes ${RUSTFLAGS:-}" \
        CARGO_PROFILE_TEST_OPT_LEVEL="${CARGO_PROFILE_TEST_OPT_LEVEL:-2}" \
        CARGO_PROFILE_TEST_DEBUG=line-tables-only \
        cargo test --locked --target "$host" --target-dir target/sanitizers --no-fail-fast "$@"
}

# valgrind knows no AVX-512: there the kernels below it are what is seen.
in_valgrind() {
    if ! command -v valgrind > /dev/null; then
        echo "valgrind is missing" >&2
        exit 1
    fi
    local binary
    binary=$(cargo test --locked --no-run --lib --message-format=json 2> /dev/null |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    BLOSCPACK_FEW_CASES=1 valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        --show-leak-kinds=definite "$binary" --test-threads=1 blosc::filter
}

case $part in
address) address "$@" ;;
valgrind) in_valgrind ;;
all)
    address "$@"
    in_valgrind
    ;;
*)
    echo "usage: tests/sanitizers.sh [address|valgrind] [ARGUMENTS OF cargo test]" >&2
    exit 2
    ;;
esac
