//! Tests of hostile files of records.

use super::{CUT, DAMAGED, Input, OVER, Row, UNSUPPORTED, row};
use crate::matrix::by_fields::blosc;
use crate::matrix::records_by_hand::{self as by_hand, Hostile, packing};

pub fn rows() -> Vec<Row> {
    let sound = || Hostile::new("{}", vec![by_hand::chunk(b"one"), by_hand::chunk(b"two")]);
    let one = |name: &str, hostile: Hostile, expected| {
        row(name, Input::Records(hostile.file()), expected)
    };
    let count = |nchunks| Hostile {
        nchunks: Some(nchunks),
        ..sound()
    };
    let bare = |nchunks| Hostile {
        options: 4 | 8,
        ..count(nchunks)
    };
    let offsets = |offsets: [i64; 2]| Hostile {
        offsets: Some(offsets.to_vec()),
        ..sound()
    };
    let packed = |content: Vec<u8>| Hostile::packed(&[content]);
    let blosc = |nbytes, ctbytes| {
        let chunk = [blosc(0x80, 1, nbytes, 1 << 20, ctbytes), vec![0; 100]].concat();
        Hostile::new("{}", vec![chunk])
    };
    let sized = |size: &str| Hostile::new(&packing(size), vec![by_hand::chunk(&[0; 16])]);
    vec![
        one("nchunks i64::MAX, offsets", count(i64::MAX), DAMAGED),
        one("nchunks 2^40, offsets", count(1 << 40), OVER),
        one("nchunks i64::MAX", bare(i64::MAX), CUT),
        one("nchunks -2", bare(-2), DAMAGED),
        one("offsets i64::MAX", offsets([i64::MAX, i64::MAX]), DAMAGED),
        one("offsets into the header", offsets([0, 16]), DAMAGED),
        one(
            "packed, 2^32-1 records of no bytes",
            packed(by_hand::pack(0, u32::MAX, 0, &[])),
            DAMAGED,
        ),
        one(
            "packed, 2^32-1 records",
            packed(by_hand::pack(0, u32::MAX, 4, &[0; 64])),
            DAMAGED,
        ),
        one(
            "packed, the first is 2^64-1",
            packed(by_hand::pack(u64::MAX, 1, 1, &[0])),
            DAMAGED,
        ),
        one(
            "packed, a length of 2^64-1",
            packed(by_hand::pack(0, 1, 8, &[0xff; 8])),
            DAMAGED,
        ),
        one("packing of chunks of 0", sized("0"), UNSUPPORTED),
        one(
            "packing of chunks of 2^63",
            sized("9223372036854775808"),
            UNSUPPORTED,
        ),
        one(
            "chunk, nbytes 2^31-17, ctbytes 16",
            blosc(2_147_483_631, 16),
            DAMAGED,
        ),
        one(
            "chunk, nbytes 2^31-17, ctbytes 116",
            blosc(2_147_483_631, 116),
            DAMAGED,
        ),
    ]
}
