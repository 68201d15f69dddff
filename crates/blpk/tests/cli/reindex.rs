//! Tests of `blpk reindex`, which fills in a table of offsets.

use crate::support::{Folder, fields, ramp};

/// A file of three chunks whose writer has left its offsets at -1, and as it was finished.
fn unindexed() -> (Vec<u8>, Vec<u8>) {
    let whole = Folder::new().compressed(&["-z", "1K"], &ramp(3000));
    let header = fields(&whole);
    assert_eq!(header.nchunks, 3);
    let mut file = whole.clone();
    file[32..32 + 3 * 8].fill(0xff);
    (file, whole)
}

#[test]
fn offsets_are_filled_in() {
    let folder = Folder::new();
    let (file, whole) = unindexed();
    folder.write("a.blp", file);
    assert_eq!(folder.run(["reindex", "a.blp"]).succeeded(), b"");
    assert_eq!(folder.read("a.blp"), whole);
    let ran = folder.run(["reindex", "a.blp"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("already filled in"), "{}", ran.stderr);
    folder.run(["-q", "reindex", "a.blp"]).succeeded();
    assert_eq!(folder.read("a.blp"), whole);
    assert_eq!(folder.names(), ["a.blp"]);
}

#[test]
fn what_has_no_table_is_wrong_usage() {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&["-o"], b"some bytes"));
    let stream = folder.run_with(["c"], "some bytes").succeeded();
    folder.write("b.blp", stream);
    for name in ["a.blp", "b.blp"] {
        let before = folder.read(name);
        let ran = folder
            .run(["reindex", name])
            .failed(2, "no table of offsets");
        assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
        assert_eq!(folder.read(name), before);
    }
}

#[test]
fn missing_chunks_are_not_indexed() {
    let folder = Folder::new();
    let (file, _) = unindexed();
    folder.write("a.blp", &file[..file.len() - 20]);
    folder.run(["reindex", "a.blp"]).failed(4, "unfinished");
    assert_eq!(folder.read("a.blp"), &file[..file.len() - 20]);
    assert_eq!(folder.names(), ["a.blp"]);
    folder.run(["reindex", "none.blp"]).failed(1, "'none.blp'");
    folder.run(["reindex"]).failed(2, "FILE");
}
