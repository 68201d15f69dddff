#!/bin/sh
# Fuzzes every target, or those that are named, for some seconds each, under AddressSanitizer:
#
#     fuzz/run.sh [SECONDS [TARGET...]]
#
# FUZZ_FORK=2 runs that many processes. The corpus is unpacked to target/fuzz/corpus/TARGET; new
# inputs go to target/fuzz/TARGET, and inputs that fail to fuzz/artifacts/TARGET. fuzz/README.md
# says how to go on from there.
set -eu
cd "$(dirname "$0")/.."
if ! cargo fuzz --version > /dev/null 2>&1; then
    echo "fuzz/run.sh: cargo-fuzz is missing: cargo install cargo-fuzz --locked" >&2
    exit 1
fi
seconds=${1:-60}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2046 # One word for each target.
[ $# -gt 0 ] || set -- $(cargo fuzz list)
fork=
if [ -n "${FUZZ_FORK:-}" ]; then
    fork="-fork=$FUZZ_FORK -ignore_timeouts=0 -ignore_ooms=0"
fi
work=target/fuzz
mkdir -p "$work"
python3 fuzz/seeds.py "$work/seeds"
python3 fuzz/corpus.py unpack "$@"

# The number of inputs that have failed for a target.
findings() {
    find "fuzz/artifacts/$1" -type f 2> /dev/null | wc -l
}

status=0
table=$work/table.txt
printf '%-28s %12s %8s %8s %8s\n' target executions seconds edges findings > "$table"
for target; do
    seeds=$work/seeds/$target
    [ -d "$seeds" ] || seeds=$work/seeds/files
    mkdir -p "$work/$target"
    log=$work/$target.log
    before=$(findings "$target")
    began=$(date +%s)
    echo "$target: $seconds seconds"
    # shellcheck disable=SC2086 # Several options, or none.
    if ! fuzz/target.sh "$target" "$work/$target" "$work/corpus/$target" "$seeds" -- \
        -max_total_time="$seconds" -print_final_stats=1 $fork > "$log" 2>&1; then
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
