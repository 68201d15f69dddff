#!/usr/bin/env bash
# Models of the code that several threads run, in every order in which they may meet, or in very many: `schedules/`.
#
#   tests/schedules.sh              loom, then shuttle
#   tests/schedules.sh loom         every order of two workers and three jobs in which threads are interrupted at most three
#                                   times; LOOM_MAX_PREEMPTIONS=4 for more
#   tests/schedules.sh shuttle      100,000 schedules of each model, half of them random, half by PCT, and every order of
#                                   the smallest; a twentieth of readers and writers;
#                                   BLOSCPACK_SCHEDULES=1000000 for more
#   tests/schedules.sh build        builds the models of shuttle, and runs none
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
    cargo build "${crate[@]}" --features shuttle,cache,readers
    exit
    ;;
both) ;;
*) echo "$0: $1 is neither loom nor shuttle nor build" >&2 && exit 2 ;;
esac
# Four interruptions take twenty times as long.
[ "$tool" = shuttle ] || LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3} run loom "$@"
[ "$tool" = loom ] || run shuttle,cache,readers "$@"
