//! `meta/storage` with numbers, types and defaults that cannot be.

use super::sound::Sound::{Array, Document, Proposal};
use super::{Case, Expected, case, doubtful, refused};

pub fn cases() -> Vec<Case> {
    let mut cases = chunklens();
    cases.extend(dtypes());
    cases.extend(others());
    cases.extend(yaml());
    cases
}

fn chunklens() -> Vec<Case> {
    let lies = [
        "0",
        "-1",
        "-3",
        "1.5",
        "null",
        "[3]",
        "true",
        "1e308",
        "4611686018427387904",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551619",
        "5",
    ];
    let mut cases = Vec::new();
    for lie in lies {
        for (sound, chunklen) in [(Array, "\"chunklen\": 3"), (Document, "\"chunklen\": 2")] {
            let name = format!("chunklen of {sound:?}: {lie}");
            cases.push(refused(name, sound, move |place| {
                place.replace("meta/storage", chunklen, &format!("\"chunklen\": {lie}"));
            }));
        }
    }
    cases
}

/// Each dtype, by a name and as JSON text.
fn dtypes() -> Vec<Case> {
    let fields: Vec<String> = (0..100_000).map(|n| format!("('f{n}', '<i8')")).collect();
    let deep = format!("{}'<i4'{}", "[('a', ".repeat(100_000), ")]".repeat(100_000));
    let lies = [
        ("|V2147483647", "|V2147483647".to_owned()),
        ("<U999999999", "<U999999999".to_owned()),
        ("<U4611686018427387904", "<U4611686018427387904".to_owned()),
        (
            "|S18446744073709551616",
            "|S18446744073709551616".to_owned(),
        ),
        ("|S-4", "|S-4".to_owned()),
        ("int128", "int128".to_owned()),
        ("int64", "int64".to_owned()),
        ("empty", String::new()),
        ("digits of others", "|S\u{0664}".to_owned()),
        ("cut", "[('a', '<i".to_owned()),
        ("a call", "__import__('os').getpid()".to_owned()),
        ("deep", deep),
        ("deep and cut", "[('a', ".repeat(100_000)),
        ("tuples", "(".repeat(1_000_000)),
        ("100,000 fields", format!("[{}]", fields.join(", "))),
        ("fields twice", "[('a', '<i2'), ('a', '<i2')]".to_owned()),
        (
            "a sub-array that overflows",
            "[('a', '<i4', (4294967296, 4294967296))]".to_owned(),
        ),
        ("a negative sub-array", "[('a', '<i4', (-1,))]".to_owned()),
        (
            "an offset outside",
            "{'names':['a'], 'formats':['<i4'], 'offsets':[9223372036854775807], 'itemsize':4}"
                .to_owned(),
        ),
        (
            "a negative offset",
            "{'names':['a'], 'formats':['<i4'], 'offsets':[-4], 'itemsize':4}".to_owned(),
        ),
        (
            "an itemsize too small",
            "{'names':['a'], 'formats':['<i8'], 'offsets':[0], 'itemsize':4}".to_owned(),
        ),
        (
            "an itemsize too large",
            "{'names':['a'], 'formats':['<i4'], 'offsets':[0], 'itemsize':9223372036854775807}"
                .to_owned(),
        ),
        ("a unit of garbage", "datetime64[\u{0}]".to_owned()),
    ];
    let mut cases = Vec::new();
    for (name, dtype) in lies {
        for (sound, sane) in [(Array, "\"int32\""), (Document, "\"int16\"")] {
            let dtype = serde_json::json!(dtype).to_string();
            cases.push(refused(
                format!("dtype of {sound:?}: {name}"),
                sound,
                move |place| {
                    place.replace("meta/storage", sane, &dtype);
                },
            ));
        }
    }
    // Elements of size 0: seven of them take 0 bytes, and no chunk can hold them.
    for dtype in ["|S0", "|V0", "<U0"] {
        let nothing = Expected::RefusedOrReads(vec![(String::new(), Vec::new())]);
        cases.push(case(
            format!("dtype of Array: {dtype}"),
            Array,
            nothing,
            move |place| {
                place.replace("meta/storage", "int32", dtype);
            },
        ));
    }
    for dtype in [
        "7",
        "null",
        "{}",
        "[1]",
        "[[]]",
        "[\"int16\"]",
        "[[\"a\"]]",
        "[[\"a\", 7]]",
    ] {
        for (sound, sane) in [(Array, "\"int32\""), (Document, "\"int16\"")] {
            cases.push(refused(
                format!("dtype of {sound:?}: {dtype}"),
                sound,
                move |place| {
                    place.replace("meta/storage", sane, dtype);
                },
            ));
        }
    }
    cases
}

/// Damage that does not affect reading all rows.
fn others() -> Vec<Case> {
    let deep = format!("{}0{}", "[".repeat(100_000), "]".repeat(100_000));
    let wide = format!("\"{}\"", "x".repeat(1_000_000));
    let changes = [
        ("dflt: text", "\"dflt\": 0", "\"dflt\": \"x\"".to_owned()),
        (
            "dflt: out of range",
            "\"dflt\": 0",
            "\"dflt\": 99999999999999999999".to_owned(),
        ),
        ("dflt: 1e400", "\"dflt\": 0", "\"dflt\": 1e400".to_owned()),
        (
            "dflt: a map",
            "\"dflt\": 0",
            "\"dflt\": {\"a\": [0]}".to_owned(),
        ),
        (
            "dflt: a list",
            "\"dflt\": 0",
            "\"dflt\": [0, 0, 0]".to_owned(),
        ),
        ("dflt: deep", "\"dflt\": 0", format!("\"dflt\": {deep}")),
        (
            "dflt: a megabyte",
            "\"dflt\": 0",
            format!("\"dflt\": {wide}"),
        ),
        (
            "expectedlen: negative",
            "\"expectedlen\": 100",
            "\"expectedlen\": -1".to_owned(),
        ),
        (
            "expectedlen: 2^64",
            "\"expectedlen\": 100",
            "\"expectedlen\": 18446744073709551616".to_owned(),
        ),
        ("clevel: 99", "\"clevel\": 5", "\"clevel\": 99".to_owned()),
        ("clevel: -1", "\"clevel\": 5", "\"clevel\": -1".to_owned()),
        (
            "clevel: text",
            "\"clevel\": 5",
            "\"clevel\": \"best\"".to_owned(),
        ),
    ];
    let mut cases = Vec::new();
    for sound in [Array, Document] {
        cases.extend(changes.clone().map(|(name, from, to)| {
            doubtful(format!("{name}, {sound:?}"), sound, move |place| {
                place.replace("meta/storage", from, &to);
            })
        }));
    }
    let bcolz = |name: &str, from: &'static str, to: &'static str| {
        doubtful(format!("{name}, Array"), Array, move |place| {
            place.replace("meta/storage", from, to);
        })
    };
    cases.extend([
        bcolz("cname: unknown", "\"lz4\"", "\"lzma\""),
        bcolz("cname: a path", "\"lz4\"", "\"../../../lib.so\""),
        bcolz("cname: NUL", "\"lz4\"", "\"lz4\\u0000\""),
        bcolz("shuffle: 9", "\"shuffle\": 1", "\"shuffle\": 9"),
        bcolz(
            "quantize: 2^40",
            "\"quantize\": 0",
            "\"quantize\": 1099511627776",
        ),
        bcolz("params: absent", "cparams", "xparams"),
        bcolz(
            "params: no map",
            "{\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \"quantize\": 0}",
            "[]",
        ),
    ]);
    cases
}

fn yaml() -> Vec<Case> {
    let lie = |name: &str, from: &'static str, to: &str| {
        let to = to.to_owned();
        refused(format!("YAML: {name}"), Proposal, move |place| {
            place.replace("meta/storage", from, &to);
        })
    };
    let size = "superchunksize: 2";
    let doubt = |name: &str, from: &'static str, to: &'static str| {
        doubtful(format!("YAML: {name}"), Proposal, move |place| {
            place.replace("meta/storage", from, to);
        })
    };
    let chunks = "(2, 2)";
    vec![
        lie("superchunksize 0", size, "superchunksize: 0"),
        lie("superchunksize -2", size, "superchunksize: -2"),
        lie("superchunksize text", size, "superchunksize: many"),
        lie(
            "superchunksize 2^64",
            size,
            "superchunksize: 18446744073709551616",
        ),
        lie("chunkshape zero", chunks, "(0, 2)"),
        lie("chunkshape negative", chunks, "(-2, 2)"),
        lie(
            "chunkshape overflow",
            chunks,
            "(4611686018427387904, 4611686018427387904)",
        ),
        lie(
            "chunkshape overflow to zero",
            chunks,
            "(4294967296, 4294967296)",
        ),
        lie("chunkshape of one dimension", chunks, "(4,)"),
        lie("chunkshape empty", chunks, "()"),
        lie("chunkshape deep", chunks, &"(".repeat(1_000_000)),
        lie("endianness", "chunkshape", "endianness: middle\nchunkshape"),
        lie("order", "chunkshape", "order: Z\nchunkshape"),
        lie(
            "dtype unknown",
            "int16",
            "!!python/object/apply:os.getpid []",
        ),
        lie("dtype alias", "int16", "*a"),
        lie("dtype large", "int16", "'|V2147483647'"),
        lie("dtype of another size", "int16", "float64"),
        lie("tab", "dtype:", "\tdtype:"),
        lie("two documents", "dtype:", "---\na: 1\n---\ndtype:"),
        doubt("filter unknown", "[shuffle]", "[../../x]"),
        doubt("library unknown", "blosclz", "lzma"),
        doubt("level", "level: 5", "level: -2147483649"),
    ]
}
