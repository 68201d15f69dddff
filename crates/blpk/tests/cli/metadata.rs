//! Tests of metadata as input and output.

use crate::support::{Folder, ramp};

const JSON: &str = r#"{"dtype": "'<f8'", "shape": [625], "dflt": NaN, "most": -Infinity}"#;

#[test]
fn metadata_comes_back_as_it_was_spelled() {
    let folder = Folder::new();
    folder.write("meta.json", JSON);
    folder.write(
        "data.blp",
        folder.compressed_with_metadata("meta.json", &ramp(5000)),
    );
    folder
        .run(["d", "data.blp", "--metadata-out", "back.json"])
        .succeeded();
    assert_eq!(folder.read("back.json"), JSON.as_bytes());
    assert_eq!(folder.read("data"), ramp(5000));
    let ran = folder.run(["d", "data.blp", "other", "--metadata-out", "-"]);
    assert_eq!(ran.succeeded(), JSON.as_bytes());
}

#[test]
fn metadata_through_a_pipe() {
    let folder = Folder::new();
    folder.write("meta.json", JSON);
    for format in ["2", "3"] {
        let args = ["c", "-m", "meta.json", "--format", format];
        let stream = folder.run_with(args, ramp(5000)).succeeded();
        let plain = folder.run_with(["d", "-f", "--metadata-out", "back.json"], stream);
        assert_eq!(plain.succeeded(), ramp(5000));
        assert_eq!(folder.read("back.json"), JSON.as_bytes());
    }
}

#[test]
fn metadata_from_standard_input() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder
        .run_with(["c", "-m", "-", "data"], r#"{"a": 1}"#)
        .succeeded();
    let ran = folder.run(["d", "data.blp", "out", "--metadata-out", "-"]);
    assert_eq!(ran.succeeded(), br#"{"a": 1}"#);
    folder
        .run_with(["c", "-m", "-", "-"], "{}")
        .failed(2, "standard input cannot be both");
}

#[test]
fn what_is_no_json_is_wrong_usage() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    for wrong in ["", "{", "{'a': 1}", "1 2", "\u{feff}{", "nan"] {
        folder.write("meta.json", wrong);
        folder
            .run(["c", "-m", "meta.json", "data"])
            .failed(2, "'meta.json'");
    }
    folder
        .run(["c", "-m", "missing", "data"])
        .failed(1, "'missing'");
    assert_eq!(folder.names(), ["data", "meta.json"]);
}

#[test]
fn format_1_has_no_place_for_metadata() {
    let folder = Folder::new();
    folder.write("data", "some bytes");
    folder.write("meta.json", "{}");
    let ran = folder.run(["c", "--format", "1", "-m", "meta.json", "data"]);
    ran.failed(2, "metadata");
    assert_eq!(folder.names(), ["data", "meta.json"]);
}

#[test]
fn verbose_decompression_shows_the_metadata() {
    let folder = Folder::new();
    folder.write("meta.json", JSON);
    let packed = folder.compressed_with_metadata("meta.json", b"some bytes");
    for flag in ["-v", "-d"] {
        let ran = folder.run_with([flag, "d"], &packed);
        assert_eq!((ran.status, ran.stdout.as_slice()), (0, &b"some bytes"[..]));
        assert!(ran.stderr.contains("metadata"), "{}", ran.stderr);
        assert!(ran.stderr.contains("'<f8'"), "{}", ran.stderr);
    }
}

#[test]
fn no_metadata_makes_no_file() {
    let folder = Folder::new();
    folder.write("data.blp", folder.compressed(&[], b"some bytes"));
    folder
        .run(["d", "data.blp", "--metadata-out", "m"])
        .warned("no metadata");
    assert_eq!(folder.names(), ["data", "data.blp"]);
}

#[test]
fn a_failure_writes_no_metadata_either() {
    let folder = Folder::new();
    folder.write("meta.json", JSON);
    let mut packed = folder.compressed_with_metadata("meta.json", &ramp(5000));
    let at = packed.len() - 10;
    packed[at] ^= 1;
    folder.write("data.blp", packed);
    folder
        .run(["d", "data.blp", "--metadata-out", "m"])
        .failed(3, "chunk 0");
    assert_eq!(folder.names(), ["data.blp", "meta.json"]);
}

#[test]
fn data_and_metadata_go_to_different_places() {
    let folder = Folder::new();
    folder.write("meta.json", JSON);
    folder.write(
        "data.blp",
        folder.compressed_with_metadata("meta.json", b"some bytes"),
    );
    folder
        .run(["d", "data.blp", "--metadata-out", "data"])
        .failed(2, "same output");
    folder
        .run(["d", "data.blp", "--metadata-out", "./data"])
        .failed(2, "same output");
    folder
        .run(["d", "data.blp", "-", "--metadata-out", "-"])
        .failed(2, "same output");
    folder
        .run(["d", "data.blp", "--metadata-out", "meta.json"])
        .failed(1, "'meta.json' already exists");
    folder
        .run(["-f", "d", "data.blp", "--metadata-out", "data.blp"])
        .failed(2, "same file");
    assert_eq!(folder.names(), ["data.blp", "meta.json"]);
}
