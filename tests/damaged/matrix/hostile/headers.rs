//! Tests of headers of Bloscpack files, and of the chunks after them.

use super::{CUT, DAMAGED, OVER, READ, Row, UNSUPPORTED, file};
use crate::matrix::by_fields::{Fields, PLAIN, blosc};
use crate::matrix::golden::{chunk, sensor};

/// Headers of Bloscpack files.
pub fn rows() -> Vec<Row> {
    let first = chunk(&[1; 100]);
    let with = |fields: Fields| fields.with(&first);
    let mut rows = Vec::new();
    for version in [2, 3] {
        let plain = Fields { version, ..PLAIN };
        let mut add = |name: &str, fields: Fields, expected| {
            rows.push(file(&format!("V{version}, {name}"), with(fields), expected));
        };
        let count = |nchunks| Fields { nchunks, ..plain };
        add("nchunks i64::MAX", count(i64::MAX), CUT);
        let stream = Fields {
            nchunks: -1,
            last_chunk: -1,
            ..plain
        };
        add("nchunks -1, no end", stream, CUT);
        add("nchunks -2", count(-2), DAMAGED);
        add("nchunks i64::MIN", count(i64::MIN), DAMAGED);
        let table = Fields {
            options: 1,
            ..plain
        };
        add(
            "nchunks i64::MAX, offsets",
            Fields {
                nchunks: i64::MAX,
                ..table
            },
            DAMAGED,
        );
        add(
            "nchunks 2^40, offsets",
            Fields {
                nchunks: 1 << 40,
                ..table
            },
            OVER,
        );
        add(
            "nchunks 2^25, offsets",
            Fields {
                nchunks: 1 << 25,
                ..table
            },
            DAMAGED,
        );
        for (name, size) in [("i32::MAX", i32::MAX), ("i32::MIN", i32::MIN), ("-2", -2)] {
            add(
                &format!("chunk-size {name}"),
                Fields {
                    chunk_size: size,
                    ..plain
                },
                DAMAGED,
            );
            add(
                &format!("last-chunk {name}"),
                Fields {
                    last_chunk: size,
                    ..plain
                },
                DAMAGED,
            );
        }
        add(
            "chunk-size -1",
            Fields {
                chunk_size: -1,
                ..plain
            },
            READ,
        );
        let zero = if version == 2 { READ } else { DAMAGED };
        add(
            "chunk-size 0",
            Fields {
                chunk_size: 0,
                ..plain
            },
            zero,
        );
        let longer = if version == 2 { READ } else { DAMAGED };
        add(
            "last-chunk > chunk-size",
            Fields {
                chunk_size: 99,
                ..plain
            },
            longer,
        );
    }
    let raw = |tail| Fields {
        version: 2,
        options: 2,
        tail,
        ..PLAIN
    };
    rows.push(file("V2, meta-size 2^31-1", with(raw(0x7fff_ffff)), OVER));
    rows.push(file(
        "V2, meta-size 2^32-1",
        with(raw(0xffff_ffff)),
        DAMAGED,
    ));
    let spare = |tail| Fields {
        options: 1,
        tail,
        ..PLAIN
    };
    rows.push(file("V3, max-app i64::MAX", with(spare(i64::MAX)), DAMAGED));
    rows.push(file("V3, max-app -1", with(spare(-1)), DAMAGED));
    let open = spare(i64::MAX / 16).with(&[0xff; 4000]);
    rows.push(file("V3, max-app 2^59, offsets of -1", open, CUT));
    let mut typesize = with(PLAIN);
    typesize[7] = 0;
    rows.push(file("V3, typesize 0", typesize, READ));
    let v1 = |count: i64| [b"blpk\x01\0\0\0".as_slice(), &count.to_le_bytes(), &first].concat();
    rows.push(file("V1, nchunks i64::MAX", v1(i64::MAX), CUT));
    rows.push(file("V1, nchunks -2", v1(-2), DAMAGED));
    rows.push(file("zeros (c-blosc 229)", vec![0; 1000], UNSUPPORTED));
    rows
}

/// Blosc chunks in a file that says nothing about them.
pub fn chunks() -> Vec<Row> {
    let any = Fields {
        chunk_size: -1,
        last_chunk: -1,
        ..PLAIN
    };
    let padded = |head: Vec<u8>| any.with(&[head, vec![0; 100]].concat());
    let mut rows = vec![
        file("chunk of zeros (c-blosc 229)", any.with(&[0; 116]), DAMAGED),
        file(
            "chunk, typesize 0",
            padded(blosc(1, 0, 100, 100, 60)),
            DAMAGED,
        ),
        file(
            "chunk, blocksize 0",
            padded(blosc(1, 8, 100, 0, 60)),
            DAMAGED,
        ),
        file(
            "chunk, nbytes 2^31-1, ctbytes 16",
            padded(blosc(1, 8, 0x7fff_ffff, 1 << 20, 16)),
            DAMAGED,
        ),
        file(
            "chunk, nbytes 2^31-17, ctbytes 16",
            padded(blosc(1, 8, 2_147_483_631, 1 << 20, 16)),
            DAMAGED,
        ),
        file(
            "chunk, nbytes 2^31-17, a copy",
            padded(blosc(2, 8, 2_147_483_631, 1 << 20, i32::MAX as u32)),
            CUT,
        ),
        file(
            "chunk, nbytes 2^31-17, one block",
            padded(blosc(1, 8, 2_147_483_631, 2_147_483_631, 60)),
            DAMAGED,
        ),
        file(
            "chunk, blocks of one byte",
            padded(blosc(1, 1, 1 << 20, 1, 60)),
            DAMAGED,
        ),
    ];
    let sound = chunk(&sensor(3000, 4));
    for (name, start) in [
        ("0", 0),
        ("15", 15),
        ("2^31-1", 0x7fff_ffff),
        ("2^32-1", u32::MAX),
    ] {
        let mut chunk = sound.clone();
        chunk[16..20].copy_from_slice(&start.to_le_bytes());
        rows.push(file(
            &format!("chunk, start of a block {name}"),
            any.with(&chunk),
            DAMAGED,
        ));
    }
    let len = 16 + 4 + 4 + 8_420_000_u32;
    let mut long = blosc(0x10, 1, 16 << 20, 16 << 20, len);
    long.extend(20_u32.to_le_bytes());
    long.extend(8_420_000_u32.to_le_bytes());
    long.extend([0, 0x41, 0xe0]);
    long.resize(len as usize, 0xff);
    rows.push(file(
        "blosclz, 8.42 M x 0xff (c-blosc2 801)",
        any.with(&long),
        DAMAGED,
    ));
    rows
}
