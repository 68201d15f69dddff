#!/usr/bin/env bash
# Runs the tests under AddressSanitizer and LeakSanitizer, and the SIMD filters under valgrind.
# usage: tests/sanitizers.sh [address|valgrind] [ARGUMENTS OF cargo test]
#   Without arguments: both, with the whole suite. With arguments, e.g. `address --test chunks`: that part of the suite.
# Sanitizers are an unstable option of the compiler, so RUSTC_BOOTSTRAP allows them, here and nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-all}
[ $# -eq 0 ] || shift
host=$(rustc --version --verbose | sed -n 's/^host: //p')

address() {
    # libdeflate contains some tables twice by design, and some tests request more memory than is available; the
    # sanitizer would stop at both.
    export ASAN_OPTIONS="detect_odr_violation=0:detect_leaks=1:allocator_may_return_null=1:${ASAN_OPTIONS:-}"
    export LSAN_OPTIONS="suppressions=$PWD/tests/sanitizers.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
    # gcc wrongly checks the scope of a static table in zstd.
    export CFLAGS="-fno-sanitize-address-use-after-scope ${CFLAGS:-}"
    export BLOSCPACK_SLOWDOWN=4
    # The sanitizer retains freed memory for a while, so a long run seems to take more and more.
    [ $# -gt 0 ] || set -- --tests -- --skip long_work_takes_no_more_than_short_work
    # With an explicit target, build scripts and macros are built without the sanitizer.
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes ${RUSTFLAGS:-}" \
        CARGO_PROFILE_TEST_OPT_LEVEL="${CARGO_PROFILE_TEST_OPT_LEVEL:-2}" \
        CARGO_PROFILE_TEST_DEBUG=line-tables-only \
        cargo test --locked --target "$host" --target-dir target/sanitizers --no-fail-fast "$@"
}

# valgrind does not support AVX-512, so it only sees the kernels below that.
in_valgrind() {
    if ! command -v valgrind > /dev/null; then
        echo "valgrind is missing" >&2
        exit 1
    fi
    local binary
    binary=$(cargo test --locked --no-run -p blosc1 --lib --message-format=json 2> /dev/null |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    BLOSCPACK_FEW_CASES=1 valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        --show-leak-kinds=definite "$binary" --test-threads=1 filter::
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
