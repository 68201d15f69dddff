#!/bin/sh
# Runs every fuzz target, or those that are named, for a while: fuzz/run.sh [SECONDS [TARGET...]]
# It needs `cargo install cargo-fuzz`. Sanitizers are an unstable option of the compiler, which is
# why it is told to take them, here and nowhere else.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
    set -- stream_decoder any_place_is_as_in_order pieces_do_not_matter blosc_chunk_differential round_trip header_and_metadata \
        changed_file any_journal recover records record_round_trip frame_wire blosc2_chunk frame frame_ops
fi
# libdeflate's tables are there twice by design; the sanitizer would end at that.
export ASAN_OPTIONS=detect_odr_violation=0
# gcc checks the scope of a table in zstd that has none, being static.
export CFLAGS=-fno-sanitize-address-use-after-scope
status=0
for target; do
    corpus=fuzz/corpus/$target
    mkdir -p "$corpus"
    # Real files are the seeds, and small ones of records and chunks of Blosc 2; the fuzzer keeps
    # from them what it can use.
    for place in testdata target/corpus fuzz/seeds; do
        [ -d "$place" ] || continue
        find -L "$place" \( -name '*.blp' -o -name '*.chunk2' \) -size -8k -exec cp {} "$corpus" \;
        case $target in frame|frame_wire) ;; *) continue ;; esac
        find -L "$place" -type f \( -name '*.cat' -o -name '*.b2nd' -o -name '*.frame' \) -size -8k \
            -exec cp {} "$corpus" \;
    done
    RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer address "$target" "$corpus" -- \
        -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=5 -max_len=65536 \
        -print_final_stats=1 || status=1
done
exit $status
