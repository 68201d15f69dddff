//! Tests of `import` and `export` with files as people have them: other separators, no names, gaps, endings of names.

use serde_json::{Value, json};

use crate::datasets_exchanged::npy;
use crate::support::{Folder, fields, ramp};

fn exported(folder: &Folder, path: &str, to: &str) -> String {
    let ran = folder.run(["export", path, "-", "--to", to]).succeeded();
    String::from_utf8(ran).unwrap()
}

fn info(folder: &Folder, path: &str) -> Value {
    serde_json::from_slice(&folder.run(["info", "--json", path]).succeeded()).unwrap()
}

#[test]
fn separators_are_noticed() {
    let folder = Folder::new();
    let rows = [
        ("a.csv", "name,n\nx;y,1\nz,2\n"),
        ("b.csv", "name;n\nx,y;1\nz;2\n"),
        ("c.csv", "name\tn\nx;y\t1\nz\t2\n"),
        ("d.tsv", "name\tn\nx,y\t1\nz\t2\n"),
        ("e.csv", "\"name\"\t\"n\"\nx,y\t1\nz\t2\n"),
        ("f.csv", "\"na,me\";n\nx;1\nz;2\n"),
        ("g.tab", "na,me\tn\nx\t1\nz\t2\n"),
    ];
    for (name, text) in rows {
        folder.write(name, text);
        folder.run(["-f", "import", name, "t"]).succeeded();
        let columns = &info(&folder, "t")["columns"];
        assert_eq!(columns.as_array().unwrap().len(), 2, "{name} {columns}");
        let n = folder.run(["cat", "t", "--column", "n"]).succeeded();
        assert_eq!(n, [1_i64.to_le_bytes(), 2_i64.to_le_bytes()].concat());
    }
    // The option counts, and so does the ending.
    folder.write("h.tsv", "a;b\n1;2\n");
    folder.run(["import", "h.tsv", "one"]).succeeded();
    assert_eq!(info(&folder, "one")["columns"].as_array().unwrap().len(), 1);
    folder
        .run(["import", "h.tsv", "two", "--delimiter", ";"])
        .succeeded();
    assert_eq!(info(&folder, "two")["columns"].as_array().unwrap().len(), 2);
    // Out again with tabs.
    assert_eq!(exported(&folder, "two", "tsv"), "a\tb\n1\t2\n");
    folder.run(["export", "two", "out.tsv"]).succeeded();
    assert_eq!(folder.read("out.tsv"), b"a\tb\n1\t2\n");
}

#[test]
fn a_first_line_may_be_a_row() {
    let folder = Folder::new();
    folder.write("rows.csv", "1,x\n2,y\n");
    folder
        .run(["import", "rows.csv", "t", "--no-header"])
        .succeeded();
    assert_eq!(exported(&folder, "t", "csv"), "f0,f1\n1,x\n2,y\n");
    // To append to a table, the columns need no names either.
    folder.write("named.csv", "n,name\n7,z\n");
    folder.run(["import", "named.csv", "u"]).succeeded();
    folder
        .run(["dataset", "append", "u", "rows.csv", "--no-header"])
        .succeeded();
    assert_eq!(exported(&folder, "u", "csv"), "n,name\n7,z\n1,x\n2,y\n");
}

#[test]
fn words_for_missing_values() {
    let folder = Folder::new();
    let text = "x,day,where\n1.5,2024-01-02,NA\nNA,N/A,US\n#N/A,null,NULL\n";
    folder.write("gaps.csv", text);
    folder
        .run(["import", "gaps.csv", "t"])
        .warned("read as null: day (2), x (2)");
    let want = "x,day,where\n1.5,2024-01-02,NA\n,,US\n,,NULL\n";
    assert_eq!(exported(&folder, "t", "csv"), want);
    // Whole numbers with gaps are floats, or get what is filled in.
    folder.write("whole.csv", "n\n1\nNA\n");
    folder.run(["import", "whole.csv", "u"]).warned("n (1)");
    assert_eq!(exported(&folder, "u", "csv"), "n\n1.0\n\"\"\n");
    folder
        .run(["import", "whole.csv", "v", "--fill", "0"])
        .succeeded();
    assert_eq!(exported(&folder, "v", "csv"), "n\n1\n0\n");
    // Other words, and no others.
    folder.write("dash.csv", "n\n1\n-\n");
    folder
        .run(["import", "dash.csv", "w", "--na=-"])
        .warned("n (1)");
    assert_eq!(exported(&folder, "w", "csv"), "n\n1.0\n\"\"\n");
    folder
        .run(["import", "whole.csv", "x", "--na=-"])
        .succeeded();
    assert_eq!(exported(&folder, "x", "csv"), "n\n1\nNA\n");
    // Nothing but such words shows no type.
    folder.write("none.csv", "n\nNA\nNA\n");
    folder.run(["import", "none.csv", "y"]).succeeded();
    assert_eq!(exported(&folder, "y", "csv"), "n\nNA\nNA\n");
}

#[test]
fn an_array_of_two_axes_has_a_column_for_each_position() {
    let folder = Folder::new();
    let elements: Vec<u8> = (1..=6_i16).flat_map(i16::to_le_bytes).collect();
    folder.write("a.npy", npy("'<i2'", "(2, 3)", &elements));
    let want = "value_0,value_1,value_2\n1,2,3\n4,5,6\n";
    for out in ["a", "a.b2nd", "a.blp"] {
        folder.run(["import", "a.npy", out]).succeeded();
        assert_eq!(exported(&folder, out, "csv"), want, "{out}");
    }
    let slice = ["export", "a", "-", "--to", "csv", "--slice", ":,1:"];
    let part = folder.run(slice).succeeded();
    assert_eq!(part, b"value_0,value_1\n2,3\n5,6\n");
    // More axes stay lists.
    folder.write("b.npy", npy("'<i2'", "(1, 2, 3)", &elements));
    folder.run(["import", "b.npy", "b"]).succeeded();
    let want = "value\n\"[[1,2,3],[4,5,6]]\"\n";
    assert_eq!(exported(&folder, "b", "csv"), want);
}

#[test]
fn the_ending_of_the_output_decides() {
    let folder = Folder::new();
    folder.write("a.npy", npy("'<f8'", "(10, 20)", &ramp(1600)));
    folder.write("t.csv", "a\n1\n");
    folder.run(["import", "a.npy", "a.b2nd"]).succeeded();
    assert_eq!(info(&folder, "a.b2nd")["kind"], "frame");
    folder.run(["import", "a.npy", "a.b2frame"]).succeeded();
    assert_eq!(info(&folder, "a.b2frame")["layout"], "b2nd");
    folder.run(["import", "a.npy", "a.bcolz"]).succeeded();
    assert_eq!(info(&folder, "a.bcolz")["layout"], "bcolz");
    for (args, words) in [
        ("a.npy b.b2nd --layout bcolz", "that of a Blosc2 frame"),
        ("a.npy b.b2frame --layout blz", "that of a Blosc2 frame"),
        ("a.npy b.blp --layout bcolz", "that of a Bloscpack file"),
        ("t.csv b.blp", "this is a table; columns: a"),
        ("t.csv b.b2nd", "this is a table; columns: a"),
        ("a.npy b.blp --chunklen 3", "does not support chunklen"),
    ] {
        let args = ["import"].into_iter().chain(args.split(' '));
        folder.run(args).failed(2, words);
    }
    let made = ["a.b2frame", "a.b2nd", "a.bcolz", "a.npy", "t.csv"];
    assert_eq!(folder.names(), made);
}

#[test]
fn the_ending_decides_what_is_converted_into() {
    let folder = Folder::new();
    let elements = ramp(1600);
    folder.write("a.npy", npy("'<f8'", "(10, 20)", &elements));
    for name in ["dir", "frame.b2nd", "file.blp"] {
        folder.run(["import", "a.npy", name]).succeeded();
    }
    for (from, to, kind) in [
        ("dir", "1.b2nd", "frame"),
        ("dir", "2.blp", "bloscpack"),
        ("dir", "3", "carray"),
        ("file.blp", "4.b2frame", "frame"),
        ("file.blp", "5.blp", "bloscpack"),
        ("frame.b2nd", "6", "frame"),
        ("frame.b2nd", "7.blp", "bloscpack"),
    ] {
        folder.run(["convert", from, to]).succeeded();
        assert_eq!(info(&folder, to)["kind"], kind, "{to}");
        assert_eq!(folder.run(["cat", to]).succeeded(), elements, "{to}");
    }
    for (args, words) in [
        ("dir x.b2nd --layout blz", "that of a Blosc2 frame"),
        ("file.blp x.b2nd --format 2", "that of a Blosc2 frame"),
        ("dir x.blp --layout b2nd", "that of a Bloscpack file"),
    ] {
        let args = ["convert"].into_iter().chain(args.split(' '));
        folder.run(args).failed(2, words);
    }
    assert!(!folder.path("x.b2nd").exists() && !folder.path("x.blp").exists());
}

#[test]
fn a_npy_file_becomes_a_file_as_bloscpack_makes_it() {
    let folder = Folder::new();
    let elements = ramp(10 * 20 * 8);
    for (descr, shape, order, typesize) in [
        ("'<f8'", "(10, 20)", "C", 8),
        ("[('a', '<f4'), ('b', '>i2', (2,))]", "(200,)", "C", 8),
        ("'|u1'", "(1600,)", "C", 1),
    ] {
        let file = npy(descr, shape, &elements);
        folder.write("a.npy", &file);
        folder.run(["-f", "import", "a.npy", "a.blp"]).succeeded();
        assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), elements);
        let about = info(&folder, "a.blp");
        assert_eq!(about["metadata"]["dtype"], json!(descr));
        assert_eq!(about["metadata"]["container"], json!("numpy"));
        assert_eq!(about["metadata"]["order"], json!(order));
        assert_eq!(fields(&folder.read("a.blp")).typesize, typesize);
        let back = folder.run(["export", "a.blp", "-", "--to", "npy"]);
        assert_eq!(back.succeeded(), file);
        // The same through a pipe.
        let piped = ["-f", "import", "-", "b.blp", "--from", "npy"];
        folder.run_with(piped, &file).succeeded();
        assert_eq!(folder.run(["cat", "b.blp"]).succeeded(), elements);
    }
    // In Fortran's order, the elements stay where they are.
    let file = String::from_utf8_lossy(&npy("'|S1'", "(2, 3)", b"")).replace("False", "True ");
    folder.write(
        "f.npy",
        [&b"\x93"[..], &file.as_bytes()[3..], b"adbecf"].concat(),
    );
    folder
        .run(["import", "f.npy", "f.blp", "-c", "zstd"])
        .succeeded();
    assert_eq!(folder.run(["cat", "f.blp"]).succeeded(), b"adbecf");
    assert_eq!(info(&folder, "f.blp")["metadata"]["order"], "F");
    let rows = folder.run(["cat", "--rows", "..", "f.blp"]).succeeded();
    assert_eq!(rows, b"abcdef");
    // A header that promises more or less than there is.
    folder.write("cut.npy", &npy("'<f8'", "(10, 20)", &elements)[..500]);
    let ran = folder.run(["import", "cut.npy", "cut.blp"]);
    assert_ne!(ran.status, 0);
    folder.write("no.npy", "no array");
    assert_ne!(folder.run(["import", "no.npy", "cut.blp"]).status, 0);
    assert!(!folder.path("cut.blp").exists());
}

#[test]
fn a_compressed_npy_file_is_an_array() {
    let folder = Folder::new();
    let elements = ramp(100 * 3 * 8);
    let file = npy("'<i8'", "(100, 3)", &elements);
    folder.write("a.npy", &file);
    folder.run(["c", "-z", "1K", "a.npy"]).succeeded();
    let text = exported(&folder, "a.npy.blp", "csv");
    assert!(
        text.starts_with("value_0,value_1,value_2\n0,3,6\n9,"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 101);
    let npy = folder.run(["export", "a.npy.blp", "-", "--to", "npy", "--rows", "..2"]);
    assert!(npy.succeeded().ends_with(&elements[..48]));
    let row = folder.run(["cat", "a.npy.blp", "--slice", "5"]).succeeded();
    assert_eq!(row, elements[120..144]);
    // The content as such is the file.
    assert_eq!(folder.run(["cat", "a.npy.blp"]).succeeded(), file);
    folder.write("cut.npy", &file[..1000]);
    folder.run(["c", "cut.npy"]).succeeded();
    let cut = ["export", "cut.npy.blp", "-", "--to", "csv"];
    folder.run(cut).failed(3, "should have 2400 bytes");
    folder.write("text", "no array");
    folder.run(["c", "text"]).succeeded();
    let text = ["export", "text.blp", "-", "--to", "csv"];
    folder
        .run(text)
        .failed(2, "does not describe a NumPy array");
}

#[test]
fn the_version_names_the_features() {
    let text = String::from_utf8(Folder::new().run(["--version"]).succeeded()).unwrap();
    let without = text.contains("(no arrow)");
    assert_ne!(without, cfg!(feature = "arrow"), "{text}");
    if without {
        let folder = Folder::new();
        folder.write("t.csv", "a\n1\n");
        folder.run(["import", "t.csv", "t"]).succeeded();
        let ran = folder.run(["export", "t", "t.parquet"]);
        let line = "cargo install --locked --path crates/blpk --features arrow";
        ran.failed(5, line);
    }
}

/// NumPy's `savez` and `savez_compressed` made these.
#[test]
fn archives_of_numpy() {
    let folder = Folder::new();
    let archive = |name: &str| std::fs::read(testkit::testdata("exchange").join(name)).unwrap();
    folder.write("two.npz", archive("two.npz"));
    folder.run(["import", "two.npz", "t"]).succeeded();
    assert_eq!(
        exported(&folder, "t", "jsonl"),
        "{\"day\":\"2024-01-02\",\"close\":1.5,\"grid\":[0,1]}\n{\"day\":\"2024-01-03\",\"close\":2.25,\"grid\":[2,3]}\n"
    );
    folder
        .run(["import", "two.npz", "grid", "--member", "grid"])
        .succeeded();
    assert_eq!(info(&folder, "grid")["shape"], json!([2, 2]));
    folder.write("unlike.npz", archive("unlike.npz"));
    folder
        .run(["import", "unlike.npz", "u"])
        .failed(2, "a [300], b [3]");
    folder.write("t.tsv.gz", "");
    folder
        .run(["import", "t.tsv.gz", "u"])
        .failed(2, "does not tell its format");
    folder
        .run(["import", "unlike.npz", "u", "--member", "c"])
        .failed(2, "it has a, b");
    folder
        .run(["import", "unlike.npz", "a", "--member", "a"])
        .succeeded();
    let a: Vec<u8> = (0..300_i32).flat_map(i32::to_le_bytes).collect();
    assert_eq!(folder.run(["cat", "a"]).succeeded(), a);
    folder.run(["export", "t", "out.npz"]).succeeded();
    folder.run(["import", "out.npz", "out"]).succeeded();
    assert_eq!(
        exported(&folder, "out", "jsonl"),
        exported(&folder, "t", "jsonl")
    );
    // No flipped bit passes unless it is harmless: an archive has a checksum for each member.
    let close = [1.5_f64, 2.25].map(f64::to_le_bytes).concat();
    for (name, member, good) in [("two.npz", "close", close), ("unlike.npz", "a", a)] {
        let bytes = archive(name);
        for at in (0..bytes.len()).step_by(7) {
            let mut bad = bytes.clone();
            bad[at] ^= 1 << (at % 8);
            folder.write("bad.npz", bad);
            let ran = folder.run(["-f", "import", "bad.npz", "bad", "--member", member]);
            if ran.status == 0 {
                assert_eq!(folder.run(["cat", "bad"]).succeeded(), good, "{name} {at}");
            }
        }
    }
}
