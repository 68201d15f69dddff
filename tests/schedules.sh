#!/usr/bin/env bash
# The code that several threads run, in every order in which they may meet, or in very many: the models in `schedules/`.
#
#   tests/schedules.sh              loom, then shuttle
#   tests/schedules.sh loom         every order of two workers and three jobs in which threads are interrupted three times at
#                                   most; LOOM_MAX_PREEMPTIONS=4 for more
#   tests/schedules.sh shuttle      100,000 schedules of each model, half of them random, half by PCT, and every order of
#                                   the smallest; BLOSCPACK_SCHEDULES=1000000 for more
#   tests/schedules.sh build        builds the models of shuttle, and runs none
#
# What stands behind the tool is part of the names of the models to be run.
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
*) echo "$0: $1 is neither loom nor shuttle nor build" >&2 && exit 2 ;;
esac
# With four interruptions it takes twenty times as long.
[ "$tool" = shuttle ] || LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-3} run loom "$@"
[ "$tool" = loom ] || run shuttle,cache "$@"
