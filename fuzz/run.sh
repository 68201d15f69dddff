#!/bin/sh
# Runs every fuzz target, or those that are named, for a while, under AddressSanitizer:
#
#     fuzz/run.sh [SECONDS [TARGET...]]
#
# FUZZ_FORK=2 uses so many processes. What is new goes to target/fuzz/TARGET, and what fails to
# fuzz/artifacts/TARGET; fuzz/README.md tells how to go on from there.
#
# Sanitizers are an unstable option of the compiler, which is why it is told to take them, here and
# nowhere else.
set -eu
cd "$(dirname "$0")/.."
if ! cargo fuzz --version > /dev/null 2>&1; then
    echo "fuzz/run.sh: this needs cargo-fuzz: cargo install cargo-fuzz --locked" >&2
    exit 1
fi
seconds=${1:-60}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2046 # One word for each target.
[ $# -gt 0 ] || set -- $(cargo fuzz list)
export RUSTC_BOOTSTRAP=1
# libdeflate's tables are there twice by design; the sanitizer would end at that. What was freed is
# kept for a while to see who uses it still: of 256 MB there would not be much left of 512.
export ASAN_OPTIONS=detect_odr_violation=0:quarantine_size_mb=64
# gcc checks the scope of a table in zstd that has none, being static.
export CFLAGS=-fno-sanitize-address-use-after-scope
fork=
if [ -n "${FUZZ_FORK:-}" ]; then
    fork="-fork=$FUZZ_FORK -ignore_timeouts=0 -ignore_ooms=0"
fi
work=target/fuzz
mkdir -p "$work"
python3 fuzz/seeds.py "$work/seeds"

# How many inputs have failed for a target.
findings() {
    find "fuzz/artifacts/$1" -type f 2> /dev/null | wc -l
}

status=0
table=$work/table.txt
printf '%-28s %12s %8s %8s %8s\n' target executions seconds edges findings > "$table"
for target; do
    # Of what the manifest asks for beside the target.
    features=$(sed -n "/^name = \"$target\"/,/^\$/s/^required-features = \[\"\(.*\)\"\]/\1/p" fuzz/Cargo.toml)
    seeds=$work/seeds/$target
    [ -d "$seeds" ] || seeds=$work/seeds/files
    mkdir -p "$work/$target" "fuzz/corpus/$target"
    log=$work/$target.log
    before=$(findings "$target")
    began=$(date +%s)
    echo "$target: $seconds seconds"
    # shellcheck disable=SC2086 # Several options, or none.
    if ! cargo fuzz run --sanitizer address ${features:+--features "$features"} "$target" \
        "$work/$target" "fuzz/corpus/$target" "$seeds" -- \
        -max_total_time="$seconds" -rss_limit_mb=512 -timeout=5 -max_len=65536 \
        -print_final_stats=1 $fork > "$log" 2>&1; then
        status=1
        tail -n 40 "$log"
    fi
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    executions=$(sed -n -e 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    [ -n "$executions" ] || executions=$(sed -n 's/^#\([0-9]*\): cov.*/\1/p' "$log" | tail -n 1)
    printf '%-28s %12s %8s %8s %8s\n' "$target" "${executions:--}" $(($(date +%s) - began)) \
        "${edges:--}" $(($(findings "$target") - before)) >> "$table"
done
cat "$table"
exit $status
