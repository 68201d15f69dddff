//! Tests of datasets with wrong small files.

use super::{CUT, DAMAGED, Input, MIB, OVER, READ, Row, row};
use crate::matrix::by_fields::zstd;
use crate::matrix::samples::{self, Files, array_of};
use bloscpack_open::datasets::DatasetLayout;

/// A dataset of one array with a text in place of another in one of its files.
fn replaced(layout: DatasetLayout, path: &str, from: &str, to: &str) -> Files {
    let mut files = array_of(layout, None, samples::ROWS);
    let (_, bytes) = files.iter_mut().find(|file| file.0 == path).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(from), "{from} in {path}: {text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
    files
}

/// The same with other bytes in a file.
fn patched(layout: DatasetLayout, path: &str, at: usize, new: &[u8]) -> Files {
    let mut files = array_of(layout, None, samples::ROWS);
    let (_, bytes) = files.iter_mut().find(|file| file.0 == path).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
    files
}

pub fn rows() -> Vec<Row> {
    use DatasetLayout::{Bcolz, BlzDocument, CarrayDocument};
    let mut rows = Vec::new();
    let mut add = |layout: DatasetLayout, name: &str, files, expected| {
        let name = format!("{layout}, {name}");
        rows.push(row(&name, Input::Dataset(layout, files), expected));
    };
    for layout in [Bcolz, BlzDocument] {
        for shape in [
            "9223372036854775807",
            "-1",
            "4294967296, 4294967296",
            "1e300",
            "1000000000000",
        ] {
            let files = replaced(layout, "meta/sizes", "[100]", &format!("[{shape}]"));
            add(layout, &format!("shape [{shape}]"), files, DAMAGED);
        }
        for chunklen in ["0", "-1", "9223372036854775807", "2147483648"] {
            let to = format!("\"chunklen\": {chunklen}");
            let files = replaced(layout, "meta/storage", "\"chunklen\": 40", &to);
            add(layout, &format!("chunklen {chunklen}"), files, DAMAGED);
        }
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        let files = replaced(layout, "meta/sizes", "[100]", &deep);
        add(layout, "shape a million deep", files, OVER);
        let files = replaced(layout, "meta/sizes", "[100]", &"[".repeat(100_000));
        add(layout, "shape 100,000 deep", files, DAMAGED);
    }
    for shape in [
        "9223372036854775807,",
        "-1,",
        "4294967296, 4294967296",
        "1000000000000,",
    ] {
        let files = replaced(
            CarrayDocument,
            "meta/shape",
            "(100,)",
            &format!("({shape})"),
        );
        add(CarrayDocument, &format!("shape ({shape})"), files, DAMAGED);
    }
    for size in ["0", "-1", "9223372036854775807"] {
        let files = replaced(
            CarrayDocument,
            "meta/storage",
            "chunkshape: (40,)",
            &format!("chunkshape: ({size},)"),
        );
        add(
            CarrayDocument,
            &format!("chunkshape ({size},)"),
            files,
            DAMAGED,
        );
        let files = replaced(
            CarrayDocument,
            "meta/storage",
            "superchunksize: 16",
            &format!("superchunksize: {size}"),
        );
        add(
            CarrayDocument,
            &format!("superchunksize {size}"),
            files,
            // All chunks in one file are fewer than so many.
            if size.len() > 2 { READ } else { DAMAGED },
        );
    }
    let attribute = format!("{{\"a\": \"{}\"}}\n", "x".repeat(64 * MIB));
    let mut files = array_of(Bcolz, None, samples::ROWS);
    files
        .iter_mut()
        .find(|file| file.0 == "__attrs__")
        .unwrap()
        .1 = attribute.into_bytes();
    add(Bcolz, "an attribute of 64 MiB and more", files, OVER);
    let many = i64::MAX.to_le_bytes();
    add(
        Bcolz,
        "superchunk, nchunks i64::MAX",
        patched(Bcolz, "data/__0.blp", 8, &many),
        DAMAGED,
    );
    let nbytes = 2_147_483_631_u32.to_le_bytes();
    add(
        Bcolz,
        "superchunk, nbytes 2^31-17",
        patched(Bcolz, "data/__0.blp", 20, &nbytes),
        DAMAGED,
    );
    add(
        Bcolz,
        "superchunk, blocksize 0",
        patched(Bcolz, "data/__0.blp", 24, &[0; 4]),
        DAMAGED,
    );
    add(
        BlzDocument,
        "superchunk, nchunks i64::MAX",
        patched(BlzDocument, "data/__1__.bin", 16, &many),
        CUT,
    );
    add(
        CarrayDocument,
        "superchunk, nchunks i64::MAX",
        patched(CarrayDocument, "data/__1__.bin", 24, &many),
        DAMAGED,
    );
    let bomb = zstd(&vec![0; 512 * MIB]);
    let file = [b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0".as_slice(), &bomb].concat();
    let mut files = array_of(Bcolz, None, samples::ROWS);
    files
        .iter_mut()
        .find(|file| file.0 == "data/__0.blp")
        .unwrap()
        .1 = file;
    add(Bcolz, "bomb: 512 MiB of zeros for 40 rows", files, DAMAGED);
    rows
}
