//! Tests of `blpk append`: accepted input, the options that apply, and refusals that leave the file unchanged.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, chunk_headers, fields, noise, ramp};

/// A folder with `a.blp`, made with these options out of these bytes.
fn with_file(options: &[&str], plain: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(options, plain));
    folder
}

fn content(folder: &Folder, name: &str) -> Vec<u8> {
    folder.run(["verify", name]).succeeded();
    folder.run(["cat", name]).succeeded()
}

fn info(folder: &Folder, name: &str) -> Value {
    let report = folder.run(["info", "--json", name]).succeeded();
    serde_json::from_slice(&report).unwrap()
}

/// Runs it, wants a failure, and every file as it was.
#[track_caller]
fn refused(folder: &Folder, args: &[&str], status: i32, words: &str) -> String {
    let before: Vec<_> = snapshot(folder);
    let ran = folder.run(args).failed(status, words);
    assert_eq!(snapshot(folder), before, "{args:?}");
    ran.stderr
}

fn snapshot(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let names = folder.names().into_iter();
    let files = names.filter(|name| folder.path(name).is_file());
    files
        .map(|name| (name.clone(), folder.read(&name)))
        .collect()
}

#[test]
fn a_file_and_standard_input_join_the_content() {
    for options in [
        &["-z", "64K"][..],
        &["-z", "64K", "-o"],
        &["-z", "64K", "--format", "2"],
        &["-z", "64K", "--format", "1"],
        &["-c", "zstd", "-k", "sha256"],
        &[],
    ] {
        let folder = with_file(options, &ramp(200_000));
        let mut model = ramp(200_000);
        folder.write("more", noise(300_000));
        assert_eq!(folder.run(["append", "a.blp", "more"]).succeeded(), b"");
        model.extend(noise(300_000));
        folder.run_with(["a", "a.blp"], "piped").succeeded();
        model.extend(b"piped");
        folder.run_with(["a", "a.blp", "-"], "").succeeded();
        assert_eq!(content(&folder, "a.blp"), model, "{options:?}");
        assert_eq!(folder.names(), ["a.blp", "more"], "{options:?}");
    }
}

#[test]
fn new_chunks_are_made_as_those_that_are_there() {
    let options = [
        "-c",
        "zstd",
        "-t",
        "4",
        "--shuffle",
        "bit",
        "-z",
        "64K",
        "-k",
        "md5",
    ];
    let folder = with_file(&options, &ramp(200_000));
    folder
        .run_with(["append", "a.blp"], ramp(200_000))
        .succeeded();
    let chunks = chunk_headers(&folder.read("a.blp"), 16);
    assert_eq!(chunks.len(), 7);
    for chunk in chunks {
        // Zstd is format 4 in the upper three bits; bit 2 is bitshuffle; then the typesize.
        assert_eq!((chunk[2] >> 5, chunk[2] & 5, chunk[3]), (4, 4, 4));
    }
    let info = info(&folder, "a.blp");
    assert_eq!(info["checksum"], "md5");
    assert_eq!(info["uncompressed_bytes"], 400_000);
}

#[test]
fn options_change_what_is_new() {
    let folder = with_file(&["-c", "lz4", "-z", "64K"], &ramp(131_072));
    let args = ["a", "-c", "zlib", "-t", "2", "-l", "9", "-s", "a.blp"];
    folder.run_with(args, ramp(65536)).succeeded();
    let chunks = chunk_headers(&folder.read("a.blp"), 4);
    let kind = |chunk: [u8; 16]| (chunk[2] >> 5, chunk[2] & 5, chunk[3]);
    // LZ4 is format 1 and Zlib 3; bit 0 is shuffle.
    let kinds: Vec<_> = chunks.into_iter().map(kind).collect();
    assert_eq!(kinds, [(1, 1, 8), (1, 1, 8), (3, 0, 2)]);
    let model = [ramp(131_072), ramp(65536)].concat();
    assert_eq!(content(&folder, "a.blp"), model);
}

#[test]
fn a_level_shows_in_the_size() {
    let sizes = ["0", "9"].map(|level| {
        let folder = with_file(&["-z", "64K"], &ramp(65536));
        folder
            .run_with(["a", "-l", level, "a.blp"], ramp(65536))
            .succeeded();
        folder.read("a.blp").len()
    });
    assert!(sizes[0] > sizes[1] + 10_000, "{sizes:?}");
}

#[test]
fn chunk_size_of_a_file_with_one_chunk() {
    let folder = with_file(&[], b"short");
    folder
        .run_with(["a", "-z", "1K", "a.blp"], ramp(3000))
        .succeeded();
    let header = fields(&folder.read("a.blp"));
    assert_eq!((header.chunk_size, header.nchunks), (1024, 3));

    let more = folder.run_with(["a", "-z", "4K", "a.blp"], ramp(3000));
    more.warned("-z 4096 has no effect: 'a.blp' has chunks of 1024 bytes");
    assert_eq!(fields(&folder.read("a.blp")).nchunks, 6);
    folder
        .run_with(["a", "-q", "-z", "4K", "a.blp"], "x")
        .succeeded();

    // Existing chunks are not cut up.
    let folder = with_file(&[], &ramp(5000));
    let more = folder.run_with(["a", "-z", "100", "a.blp"], ramp(5001));
    more.warned("-z 100 is too small: the chunk of 'a.blp' has 5000 bytes");
    let header = fields(&folder.read("a.blp"));
    assert_eq!((header.chunk_size, header.nchunks), (5000, 3));
}

#[test]
fn where_opening_fails_the_file_is_as_it_was() {
    let folder = with_file(&[], b"some bytes");
    folder.write("more", "more");
    fs::create_dir(folder.path("a.blp.blpk-journal")).unwrap();
    let stderr = refused(&folder, &["a", "a.blp", "more"], 1, "journal of the file");
    assert!(stderr.contains("'a.blp' is unchanged"), "{stderr}");
}

#[test]
fn a_table_that_is_too_small_grows() {
    let folder = with_file(&["-z", "1K", "--max-app-chunks", "2"], &ramp(3000));
    assert_eq!(fields(&folder.read("a.blp")).max_app_chunks, 2);
    folder.run_with(["a", "a.blp"], ramp(2000)).succeeded();
    assert_eq!(fields(&folder.read("a.blp")).max_app_chunks, 0);
    let args = ["a", "--max-app-chunks", "7", "a.blp"];
    folder.run_with(args, ramp(2000)).succeeded();
    assert_eq!(fields(&folder.read("a.blp")).max_app_chunks, 7);
    assert_eq!(content(&folder, "a.blp").len(), 7000);
    assert_eq!(folder.names(), ["a.blp"]);
}

#[test]
fn a_stream_becomes_a_file_with_offsets() {
    let folder = Folder::new();
    let stream = folder.run_with(["c", "-z", "1K"], ramp(3000)).succeeded();
    assert_eq!(fields(&stream).nchunks, -1);
    folder.write("a.blp", stream);
    folder.run_with(["a", "a.blp"], "end").succeeded();
    let header = fields(&folder.read("a.blp"));
    assert_eq!((header.nchunks, header.options & 1), (3, 1));
    assert_eq!(
        content(&folder, "a.blp"),
        [&ramp(3000)[..], b"end"].concat()
    );
}

#[test]
fn nothing_changes_nothing() {
    let folder = with_file(&[], &ramp(5000));
    let before = folder.read("a.blp");
    assert_eq!(folder.run(["append", "a.blp"]).succeeded(), b"");
    folder.run(["append", "a.blp", "/dev/null"]).succeeded();
    assert_eq!(folder.read("a.blp"), before);
    assert_eq!(folder.names(), ["a.blp"]);
}

#[test]
fn metadata_is_replaced_by_the_same_change() {
    let folder = with_file(&["-z", "1K"], &ramp(3000));
    for json in [
        r#"{"a": 1}"#,
        r#"{"b": [1.50, NaN]}"#,
        &format!("[{}1]", "1,".repeat(5000)),
    ] {
        folder.write("meta.json", json);
        folder
            .run_with(["a", "--replace-metadata", "-m", "meta.json", "a.blp"], "x")
            .succeeded();
        let ran = folder.run(["d", "a.blp", "-f", "out", "--metadata-out", "-"]);
        assert_eq!(ran.succeeded(), json.as_bytes());
    }
    assert_eq!(folder.read("out"), [&ramp(3000)[..], b"xxx"].concat());
}

#[test]
fn metadata_alone() {
    let folder = with_file(&["-z", "1K"], &ramp(3000));
    folder.write("meta.json", "{}");
    folder
        .run(["a", "-m", "meta.json", "a.blp", "/dev/null"])
        .succeeded();
    let ran = folder.run_with(["a", "-m", "-", "a.blp", "/dev/null"], r#"{"a": null}"#);
    ran.succeeded();
    let ran = folder.run(["d", "a.blp", "out", "--metadata-out", "-"]);
    assert_eq!(ran.succeeded(), br#"{"a": null}"#);
    assert_eq!(folder.read("out"), ramp(3000));
}

#[test]
fn metadata_that_cannot_be_leaves_the_file_as_it_was() {
    let folder = with_file(&["-z", "1K"], &ramp(3000));
    folder.write("more", "more");
    folder.write("meta.json", "{");
    refused(
        &folder,
        &["a", "-m", "meta.json", "a.blp", "more"],
        2,
        "'meta.json'",
    );
    refused(
        &folder,
        &["a", "-m", "missing", "a.blp", "more"],
        1,
        "'missing'",
    );
    refused(
        &folder,
        &["a", "-m", "-", "a.blp", "-"],
        2,
        "cannot be both",
    );

    folder.write("meta.json", "{}");
    folder.write(
        "v1.blp",
        folder.compressed(&["--format", "1"], b"some bytes"),
    );
    refused(
        &folder,
        &["a", "-m", "meta.json", "v1.blp", "more"],
        2,
        "metadata",
    );
    refused(
        &folder,
        &["a", "-m", "meta.json", "v1.blp", "/dev/null"],
        2,
        "metadata",
    );
}

/// An array of 3 rows of 8 bytes, as Bloscpack writes its metadata.
const ARRAY: &str = r#"{"dtype":"'<f8'","shape":[3],"order":"C","container":"numpy"}"#;

fn with_array() -> Folder {
    let folder = Folder::new();
    folder.write("array.json", ARRAY);
    let packed = folder.compressed_with_metadata("array.json", &ramp(24));
    folder.write("a.blp", packed);
    folder
}

fn metadata(folder: &Folder) -> Value {
    info(folder, "a.blp")["metadata"].clone()
}

#[test]
fn the_shape_of_an_array_grows() {
    let folder = with_array();
    folder.run_with(["a", "a.blp"], ramp(16)).succeeded();
    assert_eq!(metadata(&folder)["shape"], serde_json::json!([5]));
    assert_eq!(metadata(&folder)["dtype"], "'<f8'");

    folder.write("row", "1234567");
    refused(&folder, &["a", "a.blp", "row"], 2, "8 bytes");
    // Metadata that replaces all of it is stored as it is.
    folder.write("meta.json", r#"{"shape": [9]}"#);
    let args = ["a", "--replace-metadata", "-m", "meta.json", "a.blp", "row"];
    folder.run(args).succeeded();
    assert_eq!(metadata(&folder), serde_json::json!({"shape": [9]}));
    assert_eq!(content(&folder, "a.blp").len(), 47);
}

#[test]
fn metadata_is_merged_by_key() {
    let folder = with_array();
    folder.write("unit.json", r#"{"unit": "mV", "gain": 2}"#);
    folder.write("gain.json", r#"{"gain": 3, "dtype": "'<f8'"}"#);
    folder
        .run(["a", "-m", "unit.json", "a.blp", "/dev/null"])
        .succeeded();
    folder
        .run_with(["a", "-m", "gain.json", "a.blp"], ramp(8))
        .succeeded();
    let expected = serde_json::json!({
        "dtype": "'<f8'", "shape": [4], "order": "C", "container": "numpy", "unit": "mV", "gain": 3,
    });
    assert_eq!(metadata(&folder), expected);
    assert_eq!(content(&folder, "a.blp").len(), 32);

    let append = |name: &'static str| ["a", "-m", name, "a.blp", "/dev/null"];
    for (json, words) in [
        (r#"{"shape": [5]}"#, "\"shape\" describes the data"),
        (
            r#"{"container": "own"}"#,
            "\"container\" describes the data",
        ),
        ("[1]", "only JSON objects can be merged"),
    ] {
        folder.write("bad.json", json);
        let stderr = refused(&folder, &append("bad.json"), 2, words);
        assert!(stderr.contains("--replace-metadata"), "{stderr}");
    }
    // Nor is an array described that the content is not.
    folder.write("bad.json", ARRAY);
    let args = [
        "a",
        "--replace-metadata",
        "-m",
        "bad.json",
        "a.blp",
        "/dev/null",
    ];
    refused(&folder, &args, 2, "has 24 bytes, but the content has 32");
    refused(
        &folder,
        &["a", "--replace-metadata", "a.blp"],
        2,
        "--metadata",
    );
}

/// The elements of NumPy's `save` for this dtype and shape.
fn npy(descr: &str, is_fortran: bool, shape: &str, elements: &[u8]) -> Vec<u8> {
    let order = if is_fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{text:<117}\n").bytes());
    file.extend(elements);
    file
}

#[test]
fn rows_of_a_npy_file_are_appended_to_an_array() {
    let folder = with_array();
    let rows = npy("<f8", false, "(2,)", &ramp(16));
    folder.write("rows.npy", &rows);
    folder.run(["a", "a.blp", "rows.npy"]).succeeded();
    folder.run_with(["a", "a.blp"], rows.clone()).succeeded();
    // Of one dimension, both orders are the same.
    folder.write("f.npy", npy("<f8", true, "(2,)", &ramp(16)));
    folder.run(["a", "a.blp", "f.npy"]).succeeded();
    assert_eq!(metadata(&folder)["shape"], serde_json::json!([9]));
    let expected = [ramp(24), ramp(16), ramp(16), ramp(16)].concat();
    assert_eq!(content(&folder, "a.blp"), expected);

    let others = [
        (npy("<f4", false, "(4,)", &ramp(16)), 2, "float32"),
        (npy("<f8", false, "(1, 2)", &ramp(16)), 2, "shape [1, 2]"),
        (npy("<f8", false, "(2,)", &ramp(12)), 4, "after 12 of 16"),
        (npy("<f8", false, "(1,)", &ramp(16)), 3, "bytes follow"),
        (rows[..100].to_vec(), 4, "cut short"),
        (folder.read("a.blp"), 2, "a Bloscpack file"),
        (b"PAR1....".to_vec(), 2, "a Parquet file"),
    ];
    for (bytes, status, words) in others {
        folder.write("other", bytes);
        refused(&folder, &["a", "a.blp", "other"], status, words);
    }
    refused(
        &folder,
        &["patch", "--at", "0", "a.blp", "rows.npy"],
        2,
        "a .npy file",
    );
}

#[test]
fn a_compressed_npy_file_does_not_grow() {
    let folder = Folder::new();
    let rows = npy("<f8", false, "(2,)", &ramp(16));
    folder.write("rows.npy", &rows);
    folder.run(["c", "rows.npy", "a.blp"]).succeeded();
    for more in ["rows.npy", "a.blp"] {
        let copy = folder.read(more);
        folder.write("more", copy);
        refused(
            &folder,
            &["a", "a.blp", "more"],
            2,
            "is a .npy file, whose header",
        );
    }
    folder.run(["a", "a.blp", "/dev/null"]).succeeded();
    assert_eq!(content(&folder, "a.blp"), rows);
}

#[test]
fn a_shape_that_the_content_does_not_have_is_damage() {
    let folder = Folder::new();
    folder.write("array.json", ARRAY);
    let packed = folder.compressed_with_metadata("array.json", &ramp(16));
    folder.write("a.blp", packed.clone());
    let words = "an array of shape [3] has 24 bytes, but the content has 16";
    let ran = folder.run(["verify", "a.blp"]).status_is(3);
    let text = ran.text_lossy();
    assert!(text.contains(words), "{text}");
    // Also where the file is read in order, and of each member.
    folder
        .run_with(["verify", "-"], packed.clone())
        .status_is(3);
    folder.write("two.blp", [folder.compressed(&[], b"one"), packed].concat());
    folder.run(["verify", "two.blp"]).status_is(3);
}

#[test]
fn the_extension_is_checked_as_in_python() {
    let folder = Folder::new();
    folder.write("a.dat", folder.compressed(&[], b"some bytes"));
    folder.write("more.blp", "more");
    let stderr = refused(
        &folder,
        &["append", "a.dat", "a.dat"],
        2,
        "'a.dat' does not end with '.blp'",
    );
    assert!(stderr.contains("use -e"), "{stderr}");
    let stderr = refused(
        &folder,
        &["append", "a.dat", "more.blp"],
        2,
        "does not end with",
    );
    assert!(stderr.contains("comes first"), "{stderr}");
    folder
        .run(["append", "-e", "a.dat", "more.blp"])
        .succeeded();
    folder
        .run_with(["a", "--no-check-extension", "a.dat"], "!")
        .succeeded();
    assert_eq!(content(&folder, "a.dat"), b"some bytesmore!");
}

#[test]
fn mistakes_of_the_user() {
    let folder = with_file(&[], b"some bytes");
    folder.write("more", "more");
    folder.write("text.blp", "this is no such file");
    folder.write("empty.blp", "");
    folder.write(
        "two.blp",
        [folder.read("a.blp"), folder.read("a.blp")].concat(),
    );
    fs::create_dir(folder.path("dir.blp")).unwrap();

    let stderr = refused(&folder, &["a", "none.blp", "more"], 1, "'none.blp'");
    assert!(stderr.contains("blpk compress"), "{stderr}");
    refused(&folder, &["a", "a.blp", "missing"], 1, "'missing'");
    refused(
        &folder,
        &["a", "a.blp", "dir.blp"],
        2,
        "'dir.blp' is a directory",
    );
    refused(
        &folder,
        &["a", "dir.blp", "more"],
        2,
        "'dir.blp' is a directory",
    );
    refused(&folder, &["a", "-e", "-", "more"], 2, "name a file");
    refused(&folder, &["a", "-", "more"], 2, "name a file");
    refused(
        &folder,
        &["a", "-e", "/dev/null", "more"],
        2,
        "is not a regular file",
    );
    refused(
        &folder,
        &["a", "text.blp", "more"],
        5,
        "not a Bloscpack file",
    );
    refused(
        &folder,
        &["a", "empty.blp", "more"],
        4,
        "the input is empty",
    );
    refused(
        &folder,
        &["a", "two.blp", "more"],
        5,
        "concatenation of 2 members",
    );
    refused(&folder, &["a"], 2, "FILE");
    refused(&folder, &["a", "a.blp", "more", "third"], 2, "third");
    refused(&folder, &["a", "-z", "0", "a.blp", "more"], 2, "chunk-size");
    refused(&folder, &["a", "-t", "0", "a.blp", "more"], 2, "typesize");
    refused(&folder, &["a", "-l", "10", "a.blp", "more"], 2, "level");
    refused(
        &folder,
        &["a", "-s", "--shuffle", "bit", "a.blp", "more"],
        2,
        "--shuffle",
    );
}

#[test]
fn what_is_not_whole_is_refused_with_advice() {
    let folder = Folder::new();
    let stream = folder.run_with(["c", "-z", "1K"], ramp(3000)).succeeded();
    folder.write("cut.blp", &stream[..stream.len() - 40]);
    let file = folder.compressed(&["-z", "1K"], &noise(3000));
    folder.write("short.blp", &file[..file.len() - 40]);
    let stderr = refused(&folder, &["a", "cut.blp", "cut.blp"], 2, "same file");
    assert!(stderr.contains("hint: "), "{stderr}");
    folder.write("more", "more");
    let stderr = refused(&folder, &["a", "cut.blp", "more"], 4, "cut");
    assert!(stderr.contains("--allow-unterminated"), "{stderr}");
    refused(&folder, &["a", "short.blp", "more"], 4, "cut short");
}

#[test]
fn a_damaged_last_chunk_gets_no_new_digest() {
    let folder = with_file(&["-z", "1K"], &noise(2500));
    folder.write("more", "more");
    let mut bytes = folder.read("a.blp");
    let at = bytes.len() - 40;
    bytes[at] ^= 1;
    folder.write("a.blp", bytes);
    for command in [
        &["a", "a.blp", "more"][..],
        &["patch", "--at", "2495", "a.blp", "more"],
        &["d", "a.blp", "out"],
        &["cat", "--range", "2400..", "a.blp"],
        &["cat", "--chunk", "2", "a.blp"],
    ] {
        let stderr = refused(&folder, command, 3, "crc32");
        let hint = "hint: blpk recover saves the sound chunks";
        assert!(stderr.contains(hint), "{command:?}: {stderr}");
    }
    // A pipe cannot be recovered.
    let ran = folder.run_with(["d"], folder.read("a.blp")).status_is(3);
    assert!(!ran.stderr.contains("hint"), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn the_file_itself_is_no_input() {
    use std::fs::File;
    use std::process::Command;

    let folder = with_file(&[], b"some bytes");
    fs::hard_link(folder.path("a.blp"), folder.path("hard")).unwrap();
    std::os::unix::fs::symlink("a.blp", folder.path("soft")).unwrap();
    for same in ["a.blp", "./a.blp", "hard", "soft"] {
        refused(&folder, &["a", "a.blp", same], 2, "are the same file");
        refused(
            &folder,
            &["patch", "a.blp", "--at", "0", same],
            2,
            "are the same file",
        );
    }
    let before = folder.read("a.blp");
    let mut command = Command::new(crate::support::BLPK);
    command.args(["a", "a.blp"]).current_dir(folder.path(""));
    command.stdin(File::open(folder.path("a.blp")).unwrap());
    assert_eq!(command.output().unwrap().status.code(), Some(2));
    assert_eq!(folder.read("a.blp"), before);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = with_file(&["-z", "1K", "--max-app-chunks", "0"], b"some bytes");
    std::os::unix::fs::symlink("a.blp", folder.path("link.blp")).unwrap();
    // The file has to be replaced by a longer one.
    folder.run_with(["a", "link.blp"], ramp(5000)).succeeded();
    assert!(
        fs::symlink_metadata(folder.path("link.blp"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(content(&folder, "a.blp").len(), 5010);
    assert_eq!(folder.names(), ["a.blp", "link.blp"]);
}

#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = with_file(&["-z", "1K", "--max-app-chunks", "0"], b"some bytes");
    for (mode, more) in [(0o640, 10), (0o600, 5000)] {
        let path = folder.path("a.blp");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        folder.run_with(["a", "a.blp"], ramp(more)).succeeded();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            mode
        );
    }
}

#[test]
fn what_was_done_is_told_if_asked() {
    let folder = with_file(&[], b"some bytes");
    folder.write("more", "more");
    let ran = folder.run(["-v", "a", "a.blp", "more"]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.stderr
            .contains("'more', 4B, appended to 'a.blp', which now has 14B in 1 chunk, "),
        "{}",
        ran.stderr
    );
    assert!(ran.stdout.is_empty());
    let ran = folder.run(["--progress", "always", "a", "a.blp", "more"]);
    assert!(
        ran.status == 0 && ran.stderr.contains('%'),
        "{}",
        ran.stderr
    );
}

#[test]
fn threads_change_no_byte() {
    let files = ["1", "2", "7"].map(|threads| {
        let folder = with_file(&["-z", "10K"], &ramp(35_000));
        folder
            .run_with(["-n", threads, "a", "a.blp"], noise(400_000))
            .succeeded();
        folder.read("a.blp")
    });
    assert!(files[0] == files[1] && files[1] == files[2]);
}
