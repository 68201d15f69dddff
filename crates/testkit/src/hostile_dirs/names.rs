//! Names of columns that point elsewhere, and unexpected names in folders.

use super::place::not_utf_8;
use super::sound::Sound::{Array, BlzTable, Document, Nested, NestedProposal, Proposal, Table};
use super::{Case, Expected, Place, case, doubtful, harmless, refused};
use serde_json::json;

pub fn cases() -> Vec<Case> {
    let all = [columns(), dirs(), nested(), litter()];
    all.into_iter().flatten().collect()
}

/// The table's only column has this name, and `extra` may make something of that name.
fn named(name: &str, column: String, extra: impl Fn(&Place) + Send + Sync + 'static) -> Case {
    refused(format!("names: {name}"), Table, move |place| {
        place.write("__rootdirs__", format!("{}\n", json!({"names": [column]})));
        extra(place);
    })
}

fn nothing(_: &Place) {}

fn columns() -> Vec<Case> {
    let beside = |place: &Place| Array.write(place.root.parent().unwrap());
    let deep = format!(
        "{{\"names\": {}{}}}\n",
        "[".repeat(1_000_000),
        "]".repeat(1_000_000)
    );
    let many: Vec<String> = (0..100_000).map(|n| format!("c{n}")).collect();
    let many = json!({ "names": many });
    vec![
        named("..", "..".to_owned(), beside),
        named(".", ".".to_owned(), |place| place.add(".", Array)),
        named("empty", String::new(), |place| place.add(".", Array)),
        named("a/../../..", "a/../../../outside/array".to_owned(), nothing),
        named("../../outside", "../../outside/array".to_owned(), nothing),
        refused("names: absolute", Table, |place| {
            let column = place.outside.join("array");
            place.write("__rootdirs__", format!("{}\n", json!({"names": [column]})));
        }),
        named("NUL", "a\0b".to_owned(), nothing),
        named("NUL at the end", "a\0".to_owned(), nothing),
        named("4 KiB", "x".repeat(4096), nothing),
        named("4 KiB of folders", "x/".repeat(2048) + "x", nothing),
        named("__attrs__", "__attrs__".to_owned(), nothing),
        named("__attrs__ as a folder", "__attrs__".to_owned(), |place| {
            place.remove("__attrs__");
            place.add("__attrs__", Array);
        }),
        named("__rootdirs__", "__rootdirs__".to_owned(), nothing),
        named("of nothing", "c".to_owned(), nothing),
        named("a column that is a table", "t".to_owned(), |place| {
            place.add("t", Table)
        }),
        named("a column that is a document", "t".to_owned(), |place| {
            place.add("t", Document)
        }),
        refused("names: twice", Table, |place| {
            place.write("__rootdirs__", "{\"names\": [\"a\", \"b\", \"a\"]}\n");
        }),
        refused("names: no list", Table, |place| {
            place.write("__rootdirs__", "{\"names\": \"ab\"}\n");
        }),
        refused("names: numbers", Table, |place| {
            place.write("__rootdirs__", "{\"names\": [1, 2]}\n");
        }),
        refused("names: absent", Table, |place| {
            place.write("__rootdirs__", "{}\n")
        }),
        refused("names: empty file", Table, |place| {
            place.write("__rootdirs__", "")
        }),
        refused("names: not UTF-8", Table, |place| {
            place.write("__rootdirs__", b"{\"names\": [\"\xff\"]}\n");
        }),
        refused("names: half a surrogate", Table, |place| {
            place.write("__rootdirs__", "{\"names\": [\"\\ud800\"]}\n");
        }),
        refused("names: a million deep", Table, move |place| {
            place.write("__rootdirs__", &deep)
        }),
        refused("names: a hundred thousand", Table, move |place| {
            place.write("__rootdirs__", format!("{many}\n"));
        }),
        below_a_folder(),
        cases_differ(),
    ]
}

/// bcolz would join the name to the path, without a thought.
fn below_a_folder() -> Case {
    let leaves = Table.leaves();
    let below = |name: &str, at: usize| (name.to_owned(), leaves[at].1.clone());
    let expected = Expected::RefusedOrReads(vec![below("f/a", 0), below("f/b", 1)]);
    case("names: below a folder", Table, expected, |place| {
        place.folder("f");
        place.rename("a", "f/a");
        place.rename("b", "f/b");
        place.write("__rootdirs__", "{\"names\": [\"f/a\", \"f/b\"]}\n");
    })
}

/// Two columns whose names differ only in case are two columns, where the file system has both.
fn cases_differ() -> Case {
    let leaves = Table.leaves();
    let upper = vec![leaves[0].clone(), ("A".to_owned(), leaves[1].1.clone())];
    case("names: case", Table, Expected::Reads(upper), |place| {
        place.rename("b", "A");
        place.write("__rootdirs__", "{\"names\": [\"a\", \"A\"]}\n");
    })
}

fn dirs() -> Vec<Case> {
    let to = |name: &str, dir: &'static str| {
        doubtful(format!("dirs: {name}"), BlzTable, move |place| {
            let dirs = json!({"names": ["a", "b"], "dirs": {"a": dir, "b": "b"}});
            place.write("__rootdirs__", format!("{dirs}\n"));
        })
    };
    vec![
        to("..", ".."),
        to("../..", "../.."),
        to("slash", "/"),
        to("empty", ""),
        to("NUL", "a\0"),
        to("__attrs__", "__attrs__"),
        // A table that was moved: the last part of the path counts, and else the name.
        harmless("dirs: outside", BlzTable, |place| {
            let outside = place.outside.join("array");
            let dirs = json!({"names": ["a", "b"], "dirs": {"a": outside, "b": "../../outside/b"}});
            place.write("__rootdirs__", format!("{dirs}\n"));
        }),
        harmless("dirs: where it was once", Table, |place| {
            let dirs = json!({"names": ["a", "b"], "dirs": {"a": "/no/such/a", "b": "/no/such/b"}});
            place.write("__rootdirs__", format!("{dirs}\n"));
        }),
        doubtful("dirs: no map", BlzTable, |place| {
            place.write(
                "__rootdirs__",
                "{\"names\": [\"a\", \"b\"], \"dirs\": [1]}\n",
            );
        }),
    ]
}

/// Names within a nested dtype, which are folders below `data`.
fn nested() -> Vec<Case> {
    let named = |name: &str, column: &'static str| {
        refused(format!("nested names: {name}"), Nested, move |place| {
            place.replace("meta/storage", "\"c\"", &json!(column).to_string());
        })
    };
    let keyed = |name: &str, column: &'static str| {
        refused(
            format!("YAML names: {name}"),
            NestedProposal,
            move |place| {
                place.replace("meta/storage", "    c:", &format!("    {}:", json!(column)));
            },
        )
    };
    vec![
        named("..", ".."),
        named("../a", "../a"),
        named("outside", "../../../../outside/document/data"),
        named("empty", ""),
        named("NUL", "c\0"),
        named("a superchunk", "__1__.bin"),
        keyed("..", ".."),
        keyed("../a", "../a"),
        keyed("outside", "../../../../outside/document/data"),
        keyed("NUL", "c\0"),
        refused("nested names: absolute", Nested, |place| {
            let data = json!(place.outside.join("document/data")).to_string();
            place.replace("meta/storage", "\"c\"", &data);
        }),
        refused("nested names: twice", Nested, |place| {
            let field = "[\"a\", \"<i2\"]";
            place.replace("meta/storage", field, &format!("{field}, {field}"));
        }),
        refused("nested names: deep", Nested, |place| {
            let (open, close) = ("[[\"b\", ".repeat(100_000), "]]".repeat(100_000));
            let dtype = format!("{open}\"<i2\"{close}");
            place.replace("meta/storage", "[[\"c\", \"<i4\"]]", &dtype);
        }),
        refused("YAML names: twice", NestedProposal, |place| {
            place.replace("meta/storage", "  a: int16\n", "  a: int16\n  a: int16\n");
        }),
    ]
}

fn litter() -> Vec<Case> {
    let mut cases = Vec::new();
    for sound in [
        Array,
        Table,
        BlzTable,
        Document,
        Nested,
        Proposal,
        NestedProposal,
    ] {
        cases.push(harmless(
            format!("litter: names in {sound:?}"),
            sound,
            |place| {
                for folder in ["", "meta", "data"] {
                    let folder = place.root.join(folder);
                    if !folder.is_dir() {
                        continue;
                    }
                    std::fs::write(folder.join(not_utf_8()), b"not UTF-8").unwrap();
                    std::fs::write(folder.join("._sizes"), b"\0\x05\x16\x07").unwrap();
                    std::fs::write(folder.join(".DS_Store"), b"").unwrap();
                    std::fs::write(folder.join("x".repeat(255)), b"").unwrap();
                }
            },
        ));
    }
    cases.extend([
        harmless("litter: pipes", Array, |place| {
            place.fifo("data/.___0.blp");
            place.fifo("data/__9.blp");
            place.fifo("pipe");
        }),
        harmless("litter: a folder that is no column", Table, |place| {
            place.link("c", place.outside.join("array"));
            place.link("loop", "loop");
            place.add("old", Array);
            place.fifo("pipe");
        }),
        harmless("litter: superchunks of other names", Array, |place| {
            for name in [
                "__01.blp",
                "__-1.blp",
                "__1.BLP",
                "__+1.blp",
                "__1.blp.tmp",
                "__.blp",
            ] {
                place.write(format!("data/{name}"), "no superchunk");
            }
            place.write("data/__9000000000000000000.blp", "");
            place.write("data/__99999999999999999999999.blp", "");
        }),
        harmless(
            "litter: superchunks of other names, document",
            Document,
            |place| {
                for name in [
                    "__01__.bin",
                    "__0__.bin",
                    "__-1__.bin",
                    "__1__.bin.tmp",
                    "__1__.BIN",
                ] {
                    place.write(format!("data/{name}"), "no superchunk");
                }
                place.write("data/__9000000000000000000__.bin", "");
                place.write("data/__99999999999999999999999__.bin", "");
            },
        ),
    ]);
    cases
}
