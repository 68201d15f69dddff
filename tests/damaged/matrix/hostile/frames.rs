//! Tests of hostile frames and the arrays in them.

use super::{CUT, DAMAGED, Input, OVER, Row, UNSUPPORTED, row};
use crate::matrix::frame_parts::Parts;
use crate::matrix::samples::nd;
use bloscpack::blosc::{SpecialValue, special_chunk};
use bloscpack_open::frames::ArrayKind;
use bloscpack_open::frames::wire::ChunkPlace;

pub fn rows() -> Vec<Row> {
    let sound = nd(ArrayKind::B2nd, None).remove(0).1;
    let mut rows = Vec::new();
    let mut patch = |name: &str, at: usize, bytes: &[u8], expected| {
        let mut frame = sound.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        rows.push(row(name, Input::Frame(frame), expected));
    };
    for (field, at) in [
        ("header_len", 11),
        ("typesize", 48),
        ("blocksize", 53),
        ("chunk_size", 58),
    ] {
        for (name, value) in [
            ("0", 0),
            ("-1", -1),
            ("i32::MAX", i32::MAX),
            ("i32::MIN", i32::MIN),
        ] {
            // Chunks that vary in length are known, and not read.
            let expected = match (field, value) {
                ("chunk_size", 0) => UNSUPPORTED,
                _ => DAMAGED,
            };
            patch(
                &format!("{field} {name}"),
                at,
                &value.to_be_bytes(),
                expected,
            );
        }
    }
    for (field, at) in [("frame_len", 16), ("content_len", 30), ("section_len", 39)] {
        for (name, value) in [
            ("0", 0),
            ("-1", -1),
            ("i64::MAX", i64::MAX),
            ("2^40", 1 << 40),
        ] {
            let expected = match (field, value) {
                ("frame_len", 0) => DAMAGED,
                ("frame_len", _) => CUT,
                _ => DAMAGED,
            };
            patch(
                &format!("{field} {name}"),
                at,
                &value.to_be_bytes(),
                expected,
            );
        }
    }
    let length = sound.len() - 22;
    for (name, value) in [
        ("0", 0),
        ("24", 24),
        ("2^31", 1 << 31),
        ("2^32-1", u32::MAX),
    ] {
        patch(
            &format!("trailer of {name} bytes"),
            length,
            &value.to_be_bytes(),
            if value < 100 { DAMAGED } else { OVER },
        );
    }
    // The positions of the parts of a description of two axes.
    let (shape, chunk, block) = ([5, 14], [24, 29], [35, 40]);
    let both = |ats: [usize; 2], bytes: &[u8]| {
        let parts = Parts::sound().with_meta(ats[0], bytes);
        parts.with_meta(ats[1], bytes).bytes()
    };
    let mut lie = |name: &str, frame: Vec<u8>| rows.push(row(name, Input::Frame(frame), DAMAGED));
    lie(
        "b2nd, shape 2^62 x 2^62",
        both(shape, &(1i64 << 62).to_be_bytes()),
    );
    lie(
        "b2nd, shape 2^32 x 2^32",
        both(shape, &(1i64 << 32).to_be_bytes()),
    );
    lie("b2nd, shape -1 x -1", both(shape, &(-1i64).to_be_bytes()));
    lie(
        "b2nd, chunks of (2^31-1)^2",
        both(chunk, &i32::MAX.to_be_bytes()),
    );
    lie(
        "b2nd, chunks of 2^16 x 2^16",
        both(chunk, &(1i32 << 16).to_be_bytes()),
    );
    lie("b2nd, chunks of 0 x 0", both(chunk, &0i32.to_be_bytes()));
    lie("b2nd, blocks of 0 x 0", both(block, &0i32.to_be_bytes()));
    lie(
        "b2nd, blocks of (2^31-1)^2",
        both(block, &i32::MAX.to_be_bytes()),
    );
    let places = |at| Parts::sound().with_places(&[ChunkPlace::At(at); 4]).bytes();
    lie("index, chunks at 2^40", places(1 << 40));
    lie("index, chunks at 2^63-1", places(i64::MAX as u64));
    let mut parts = Parts::sound();
    let zeros = special_chunk(SpecialValue::Zeros, 2_147_483_631, 1, 0).unwrap();
    parts
        .trailer
        .vlmetalayers
        .set("bomb", zeros.clone())
        .unwrap();
    rows.push(row(
        "vlmetalayer, 2 GiB of zeros in 32 bytes",
        Input::Frame(parts.bytes()),
        OVER,
    ));
    let mut parts = Parts::sound();
    parts.index = zeros;
    rows.push(row(
        "index, 2 GiB of zeros in 32 bytes",
        Input::Frame(parts.bytes()),
        DAMAGED,
    ));
    rows
}
