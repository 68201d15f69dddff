//! Wrong shapes, and metadata files that are not metadata.

use super::sound::Sound::{Array, Document, Proposal, Table};
use super::{Case, Expected, Sound, case, doubtful, harmless, refused};

pub fn cases() -> Vec<Case> {
    let mut cases = shapes();
    cases.extend(tuples());
    cases.extend(numbers());
    for (sound, path) in [
        (Array, "meta/sizes"),
        (Array, "meta/storage"),
        (Document, "meta/sizes"),
        (Document, "meta/storage"),
        (Proposal, "meta/shape"),
        (Proposal, "meta/storage"),
    ] {
        cases.extend(no_metadata(sound, path));
    }
    cases.extend(attributes());
    cases
}

fn shapes() -> Vec<Case> {
    let lies = [
        ("overflow", "[4611686018427387904, 4611686018427387904]"),
        ("overflow to zero", "[4294967296, 4294967296]"),
        ("negative", "[-1]"),
        ("twice negative", "[-7, -1]"),
        ("1e308", "[1e308]"),
        ("empty", "[]"),
        ("beyond the chunks", "[1000]"),
        ("one chunk beyond the chunks", "[10]"),
        ("one row beyond the chunks", "[8]"),
        ("i64::MAX", "[9223372036854775807]"),
        ("2^63", "[9223372036854775808]"),
        ("u64::MAX", "[18446744073709551615]"),
        ("2^64", "[18446744073709551616]"),
        ("a fraction", "[6.5]"),
        ("text", "[\"7\"]"),
        ("a list", "[[7]]"),
        ("null", "null"),
        ("a number", "7"),
        ("rows of two", "[7, 2]"),
    ];
    let mut cases = Vec::new();
    for (name, shape) in lies {
        for sound in [Array, Document] {
            cases.push(refused(
                format!("shape of {sound:?}: {name}"),
                sound,
                move |place| {
                    place.replace("meta/sizes", "[7]", shape);
                },
            ));
        }
    }
    let ones = format!("[7{}]", ", 1".repeat(100_000));
    cases.extend([
        doubtful("shape of Array: 7.0", Array, |place| {
            place.replace("meta/sizes", "[7]", "[7.0]")
        }),
        doubtful("shape of Array: 100,001 dimensions", Array, move |place| {
            place.replace("meta/sizes", "[7]", &ones);
        }),
        doubtful("shape of Array: twice", Array, |place| {
            place.replace("meta/sizes", "\"nbytes\"", "\"shape\": [7], \"nbytes\"");
        }),
        case(
            "shape of Array: rows of nothing",
            Array,
            Expected::RefusedOrReads(vec![(String::new(), Vec::new())]),
            |place| place.replace("meta/sizes", "[7]", "[7, 0]"),
        ),
    ]);
    cases.extend(fewer_rows());
    cases
}

/// Rows that were cut off, and are still in their chunks: this is what a dataset looks like between
/// the first and the last write of a trim.
fn fewer_rows() -> Vec<Case> {
    let cut = |sound: Sound, rows: usize, row: usize| {
        let (name, bytes) = sound.leaves().remove(0);
        (
            vec![(name, bytes[..rows * row].to_vec())],
            format!("[{rows}]"),
        )
    };
    let mut cases = Vec::new();
    for (sound, row, rows) in [
        (Array, 4, 6),
        (Array, 4, 3),
        (Array, 4, 5),
        (Array, 4, 0),
        (Document, 2, 6),
        (Document, 2, 4),
        (Document, 2, 5),
        (Document, 2, 0),
    ] {
        let (leaves, shape) = cut(sound, rows, row);
        let whole = sound == Array;
        let expected = if whole {
            Expected::Reads(leaves)
        } else {
            Expected::RefusedOrReads(leaves)
        };
        let name = format!("shape of {sound:?}: only {rows} rows");
        cases.push(case(name, sound, expected, move |place| {
            place.replace("meta/sizes", "[7]", &shape);
        }));
    }
    cases
}

fn tuples() -> Vec<Case> {
    let deep = "(".repeat(1_000_000);
    let closed = format!("{deep}{}", ")".repeat(1_000_000));
    let many = format!("({})", "1, ".repeat(100_000));
    let lies = [
        ("overflow", "(4611686018427387904, 4611686018427387904)"),
        ("overflow to zero", "(4294967296, 4294967296)"),
        ("negative", "(-3, 3)"),
        ("2^64", "(18446744073709551616, 3)"),
        ("empty", "()"),
        ("one dimension", "(9,)"),
        ("three dimensions", "(3, 3, 1)"),
        ("not closed", "(3, 3"),
        ("within", "((3, 3),)"),
        ("a call", "(__import__('os').getpid(), 3)"),
        ("power", "(3**9, 3)"),
        ("floats", "(3e308, 3)"),
        ("more chunks", "(5, 3)"),
        ("deep", &deep),
        ("deep and closed", &closed),
        ("100,000 dimensions", &many),
    ];
    let lies = lies.into_iter().map(|(name, shape)| {
        let shape = shape.to_owned();
        refused(format!("tuple: {name}"), Proposal, move |place| {
            place.replace("meta/shape", "(3, 3)", &shape);
        })
    });
    lies.collect()
}

/// The stored size of a dataset in bytes is never trusted.
fn numbers() -> Vec<Case> {
    vec![
        harmless("nbytes and cbytes: wrong", Array, |place| {
            place.write(
                "meta/sizes",
                "{\"shape\": [7], \"nbytes\": 1, \"cbytes\": 1}\n",
            );
        }),
        harmless("cbytes: negative", Array, |place| {
            place.write(
                "meta/sizes",
                "{\"shape\": [7], \"nbytes\": 28, \"cbytes\": -652}\n",
            );
        }),
        doubtful("nbytes: i64::MIN", Array, |place| {
            let sizes = "{\"shape\": [7], \"nbytes\": -9223372036854775808, \"cbytes\": 1}\n";
            place.write("meta/sizes", sizes);
        }),
        doubtful("nbytes: 1e400", Array, |place| {
            place.write(
                "meta/sizes",
                "{\"shape\": [7], \"nbytes\": 1e400, \"cbytes\": 1}\n",
            );
        }),
    ]
}

fn no_metadata(sound: Sound, path: &'static str) -> Vec<Case> {
    let of = format!("{path} of {sound:?}");
    let deep = "[".repeat(1_000_000);
    let maps = "{\"a\":".repeat(1_000_000);
    vec![
        refused(format!("missing: {of}"), sound, move |place| {
            place.remove(path)
        }),
        refused(format!("no bytes: {of}"), sound, move |place| {
            place.write(path, "")
        }),
        refused(format!("NUL: {of}"), sound, move |place| {
            place.write(path, [0; 100])
        }),
        refused(format!("not UTF-8: {of}"), sound, move |place| {
            place.write(path, b"{\"\xff\": 1}\n");
        }),
        refused(format!("a list: {of}"), sound, move |place| {
            place.write(path, "[1, 2]\n")
        }),
        refused(format!("lists a million deep: {of}"), sound, move |place| {
            place.write(path, &deep);
        }),
        refused(format!("maps a million deep: {of}"), sound, move |place| {
            place.write(path, &maps);
        }),
        refused(format!("a terabyte: {of}"), sound, move |place| {
            place.stretch(path, 1 << 40)
        }),
    ]
}

fn attributes() -> Vec<Case> {
    let mut cases = Vec::new();
    for (sound, path) in [
        (Array, "__attrs__"),
        (Table, "__attrs__"),
        (Document, "meta/attributes"),
    ] {
        let of = format!("{path} of {sound:?}");
        let deep = format!(
            "{{\"a\": {}{}}}\n",
            "[".repeat(1_000_000),
            "]".repeat(1_000_000)
        );
        cases.extend([
            refused(format!("a terabyte: {of}"), sound, move |place| {
                place.stretch(path, 1 << 40)
            }),
            doubtful(format!("a million deep: {of}"), sound, move |place| {
                place.write(path, &deep)
            }),
            doubtful(format!("a list: {of}"), sound, move |place| {
                place.write(path, "[1]\n")
            }),
            doubtful(format!("missing: {of}"), sound, move |place| {
                place.remove(path)
            }),
        ]);
    }
    let laughs: String = ["a: &a [x, x, x, x]\n".to_owned()]
        .into_iter()
        .chain((1..40).map(|n| {
            let (this, before) = (
                format!("a{n}"),
                if n == 1 {
                    "a".into()
                } else {
                    format!("a{}", n - 1)
                },
            );
            format!("{this}: &{this} [*{before}, *{before}, *{before}, *{before}]\n")
        }))
        .collect();
    let indented: String = (0..3000)
        .map(|n| format!("{}a:\n", "  ".repeat(n)))
        .collect();
    let lists = format!("a: {}\n", "[".repeat(1_000_000));
    for (name, text) in [
        ("aliases of aliases", laughs),
        ("indented", indented),
        ("lists", lists),
    ] {
        let name = format!("YAML: {name}: meta/attributes of Proposal");
        cases.push(doubtful(name, Proposal, move |place| {
            place.write("meta/attributes", &text)
        }));
    }
    cases
}
