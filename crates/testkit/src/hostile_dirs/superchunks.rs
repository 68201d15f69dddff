//! Superchunks that are missing, or whose headers and tables are wrong.

use super::Expected;
use super::sound::Sound::{Array, Document, Nested, Proposal, Table};
use super::sound::blz_superchunk;
use super::{Case, Sound, case, doubtful, refused};

pub fn cases() -> Vec<Case> {
    let mut cases = absent();
    cases.extend(chunks());
    cases.extend(document());
    cases.extend(proposal());
    cases
}

fn absent() -> Vec<Case> {
    let mut cases = Vec::new();
    for (sound, path, other) in [
        (Array, "data/__0.blp", "data/__00.blp"),
        (Array, "data/__1.blp", "data/__01.blp"),
        (Array, "data/__2.blp", "data/__9000000000000000000.blp"),
        (Table, "b/data/__0.blp", "b/data/__0.BLP"),
        (Document, "data/__1__.bin", "data/__01__.bin"),
        (Document, "data/__2__.bin", "data/__3__.bin"),
        (
            Document,
            "data/__2__.bin",
            "data/__9000000000000000000__.bin",
        ),
        (Nested, "data/b/c/__1__.bin", "data/b/__1__.bin"),
        (Proposal, "data/__1__.bin", "data/__0__.bin"),
        (Proposal, "data/__2__.bin", "data/__02__.bin"),
    ] {
        cases.push(refused(
            format!("{path} of {sound:?} is {other}"),
            sound,
            move |place| {
                place.rename(path, other);
            },
        ));
    }
    for (sound, path) in [
        (Array, "data/__1.blp"),
        (Document, "data/__1__.bin"),
        (Proposal, "data/__2__.bin"),
    ] {
        let of = format!("{path} of {sound:?}");
        cases.extend([
            refused(format!("missing: {of}"), sound, move |place| {
                place.remove(path)
            }),
            refused(format!("no bytes: {of}"), sound, move |place| {
                place.write(path, "")
            }),
            refused(format!("cut: {of}"), sound, move |place| {
                let len = place.root.join(path).metadata().unwrap().len();
                place.stretch(path, len - 1);
            }),
            refused(format!("zeros: {of}"), sound, move |place| {
                place.write(path, [0; 200])
            }),
        ]);
    }
    // bcolz ignores bytes after a chunk, and in a document they are room: the reader must not look at a terabyte of
    // them.
    cases.push(doubtful(
        "a terabyte: data/__1.blp of Array",
        Array,
        |place| {
            place.stretch("data/__1.blp", 1 << 40);
        },
    ));
    cases.push(doubtful(
        "a terabyte: data/__2__.bin of Document",
        Document,
        |place| {
            place.stretch("data/__2__.bin", 1 << 40);
        },
    ));
    cases.push(refused(
        "a superchunk too many: Document",
        Document,
        |place| {
            place.write("data/__3__.bin", "no superchunk");
            place.replace("meta/sizes", "[7]", "[9]");
        },
    ));
    cases
}

/// The position of a number in a superchunk, and the bytes to put there.
type Lie = (&'static str, usize, &'static [u8]);

fn patched(sound: Sound, path: &'static str, lies: &[Lie]) -> Vec<Case> {
    let lies = lies.iter().map(|(name, at, bytes)| {
        let (at, bytes) = (*at, *bytes);
        refused(
            format!("{path} of {sound:?}: {name}"),
            sound,
            move |place| {
                place.patch(path, at, bytes);
            },
        )
    });
    lies.collect()
}

const MAX_32: &[u8] = &[0xff, 0xff, 0xff, 0x7f];
const MIN_32: &[u8] = &[0, 0, 0, 0x80];
const ONES_32: &[u8] = &[0xff; 4];
const MAX_64: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
const ONES_64: &[u8] = &[0xff; 8];

/// The Blosc chunk of a bcolz superchunk begins at byte 16.
fn chunks() -> Vec<Case> {
    let path = "data/__1.blp";
    let mut cases = patched(
        Array,
        path,
        &[
            ("Blosc version", 16, &[9]),
            ("nbytes as large as can be", 20, MAX_32),
            ("nbytes negative", 20, ONES_32),
            ("nbytes of one row less", 20, &[8, 0, 0, 0]),
            ("nbytes of one row more", 20, &[16, 0, 0, 0]),
            ("nbytes zero", 20, &[0; 4]),
            ("ctbytes beyond the file", 28, &[29, 0, 0, 0]),
            ("ctbytes as large as can be", 28, MAX_32),
            ("ctbytes negative", 28, ONES_32),
            ("ctbytes less than a header", 28, &[15, 0, 0, 0]),
            ("no copy, and no streams", 18, &[0x20]),
        ],
    );
    let header = |name: &str, at: usize, bytes: &'static [u8]| {
        doubtful(format!("{path} of Array: {name}"), Array, move |place| {
            place.patch(path, at, bytes);
        })
    };
    // bcolz itself skips these 16 bytes.
    cases.extend([
        header("magic", 0, b"xxxx"),
        header("version", 4, &[9]),
        header("nchunks as many as can be", 8, MAX_64),
        header("nchunks -1", 8, ONES_64),
        header("nchunks 0", 8, &[0; 8]),
        header("blocksize of a copy", 24, MAX_32),
        header("typesize of a copy", 19, &[0]),
        refused("data/__1.blp of Array: a block outside", Array, |place| {
            let chunk = [
                &[2, 1, 0x21, 4, 12, 0, 0, 0, 12, 0, 0, 0, 24, 0, 0, 0][..],
                ONES_32,
                &[1, 0, 0, 0],
            ];
            let header = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";
            place.write("data/__1.blp", [&header[..], &chunk.concat()].concat());
        }),
    ]);
    // The last chunk may hold more rows than are left, but no more than a chunk has.
    let long = |rows: i32| {
        let data: Vec<u8> = (6..6 + rows)
            .flat_map(|n| (1000 * n + 7).to_le_bytes())
            .collect();
        super::sound::superchunk(4, &data)
    };
    let (three, four) = (long(3), long(4));
    cases.extend([
        case(
            "data/__2.blp of Array: rows to spare",
            Array,
            Expected::Reads(Array.leaves()),
            move |place| {
                place.write("data/__2.blp", &three);
            },
        ),
        refused(
            "data/__2.blp of Array: more rows than a chunk has",
            Array,
            move |place| {
                place.write("data/__2.blp", &four);
            },
        ),
    ]);
    cases
}

/// Header of 32 bytes, two offsets, chunks of 20 bytes at 48 and 68.
fn document() -> Vec<Case> {
    let mut cases = patched(
        Document,
        "data/__1__.bin",
        &[
            ("magic", 0, b"xxxx"),
            ("version 1", 4, &[1]),
            ("version 9", 4, &[9]),
            ("variable length", 5, &[0x05]),
            ("unknown options", 5, &[0x81]),
            ("checksum 9", 6, &[9]),
            ("checksum that is not there", 6, &[2]),
            ("chunk-size as large as can be", 8, MAX_32),
            ("chunk-size negative", 8, MIN_32),
            ("chunk-size of another", 8, &[6, 0, 0, 0]),
            ("last-chunk of another", 12, &[2, 0, 0, 0]),
            ("last-chunk larger than a chunk", 12, &[200, 0, 0, 0]),
            ("nchunks as many as can be", 16, MAX_64),
            (
                "nchunks -2",
                16,
                &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            ),
            ("nchunks 0", 16, &[0; 8]),
            ("nchunks one less", 16, &[1, 0, 0, 0, 0, 0, 0, 0]),
            ("nchunks one more", 16, &[3, 0, 0, 0, 0, 0, 0, 0]),
            ("meta-size without metadata", 24, &[4, 0, 0, 0]),
            ("reserved word without a seal", 28, &[1, 0, 0, 0]),
            ("a seal that is wrong", 5, &[0x09]),
            (
                "metadata as long as can be",
                5,
                &[
                    0x03, 0, 2, 4, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff,
                    0x7f,
                ],
            ),
            ("offset beyond the file", 40, &[0, 0, 0, 0, 1, 0, 0, 0]),
            ("offset as large as can be", 40, MAX_64),
            (
                "offset negative",
                40,
                &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            ),
            ("offset unknown", 40, ONES_64),
            ("offset into the header", 40, &[0; 8]),
            ("offset of the first chunk", 40, &[48, 0, 0, 0, 0, 0, 0, 0]),
            ("offset into a chunk", 40, &[67, 0, 0, 0, 0, 0, 0, 0]),
            (
                "first offset into the table",
                32,
                &[40, 0, 0, 0, 0, 0, 0, 0],
            ),
            ("nbytes of a chunk", 52, &[2, 0, 0, 0]),
            ("ctbytes into the next chunk", 60, &[40, 0, 0, 0]),
            ("ctbytes as large as can be", 60, MAX_32),
        ],
    );
    let odd = |name: &str, number: u8, data: &'static [u8]| {
        refused(format!("Document: {name}"), Document, move |place| {
            let file = blz_superchunk(2, 4, data);
            place.write(format!("data/__{number}__.bin"), file);
        })
    };
    cases.extend([
        odd("a first superchunk of one chunk", 1, &[1, 0, 2, 0]),
        odd("a last superchunk of three chunks", 2, &[0; 10]),
        odd("a last superchunk of one chunk", 2, &[0; 4]),
        doubtful("Document: bytes behind the last chunk", Document, |place| {
            let file = std::fs::read(place.root.join("data/__2__.bin")).unwrap();
            place.write("data/__2__.bin", [&file[..], b"more"].concat());
        }),
        // A row that was cut off, and is still in its chunk.
        doubtful(
            "Document: a last superchunk of two whole chunks",
            Document,
            |place| {
                let rows = [401_i16, 501, 601, 701].map(i16::to_le_bytes).concat();
                place.write("data/__2__.bin", blz_superchunk(2, 4, &rows));
            },
        ),
    ]);
    cases
}

/// Header of 32 bytes, two positions, chunks of 24 bytes at 48 and 72.
fn proposal() -> Vec<Case> {
    patched(
        Proposal,
        "data/__1__.bin",
        &[
            ("magic", 0, b"xxxx"),
            ("checksum 9", 5, &[9]),
            ("checksum that is not there", 5, &[3]),
            ("index 2", 6, &[2]),
            ("chunk size as large as can be", 8, MAX_32),
            ("chunk size negative", 8, ONES_32),
            ("chunk size of another", 8, &[6, 0, 0, 0]),
            ("file size as large as can be", 16, MAX_64),
            ("file size one less", 16, &[95, 0, 0, 0, 0, 0, 0, 0]),
            ("nchunks as many as can be", 24, MAX_64),
            ("nchunks -1", 24, ONES_64),
            ("nchunks 0", 24, &[0; 8]),
            ("nchunks one less", 24, &[1, 0, 0, 0, 0, 0, 0, 0]),
            ("position beyond the file", 40, &[0, 0, 0, 0, 1, 0, 0, 0]),
            ("position as large as can be", 40, MAX_64),
            ("position negative", 40, ONES_64),
            (
                "position of the first chunk",
                40,
                &[48, 0, 0, 0, 0, 0, 0, 0],
            ),
            ("position in the header", 32, &[0; 8]),
            ("nbytes of a chunk", 52, &[6, 0, 0, 0]),
            ("ctbytes into the next chunk", 60, &[48, 0, 0, 0]),
        ],
    )
}
