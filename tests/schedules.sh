#!/usr/bin/env bash
# Runs the multi-threaded code under every possible schedule, or under very many: the models in `schedules/`.
#
#   tests/schedules.sh              loom, then shuttle
#   tests/schedules.sh loom         every schedule of two workers and three jobs with at most three preemptions;
#                                   LOOM_MAX_PREEMPTIONS=4 for more
#   tests/schedules.sh shuttle      100,000 schedules of each model, half of them random, half by PCT, and every schedule
#                                   of the smallest; BLOSCPACK_SCHEDULES=1000000 for more
#   tests/schedules.sh build        builds the models of shuttle without running them
#
# An argument after the tool selects the models whose names contain it.
set -euo pipefail
cd "$(dirname "$0")/.."

crate=(--quiet --locked --release --manifest-path tests/schedules/Cargo.toml)

run() {
    local features=$1
    shift
    cargo run "${crate[@]}" --features "$features" -- "$@"
}

tool=${1:-both}
case $tool in
loom | shuttle) shift ;;
build)
    cargo build "${crate[@]}" --features shuttle,cache
    exit
    ;;
both) ;;
*) echo "$0: unknown tool '$1' (loom, shuttle or build)" >&2 && exit 2 ;;
esac
# Four preemptions take twenty times as long.
[ "$tool" = shuttle ] || LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3} run loom "$@"
[ "$tool" = loom ] || run shuttle,cache "$@"
