#!/usr/bin/env bash
# The tests, and in the last lines how many of them had nothing to work on.
# usage: tests/run.sh [ARGUMENTS OF cargo test]
# BLOSCPACK_TESTS=whole searches in full where a normal run takes samples.
set -uo pipefail
cd "$(dirname "$0")/.."
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
BLOSCPACK_IDLE_TESTS=$notes cargo test --locked --no-fail-fast "$@"
status=$?
# A line is the name of a test, and a reason; a test may have noted it twice.
count=$(sort -u "$notes" | wc -l)
printf '\n%d tests passed without anything to work on\n' "$count"
sort -u "$notes" | cut -f 2 | sort | uniq -c
exit $status
