//! Tests of `blpk info`, `blpk verify`, the output of `-v`, and the progress bar.

use serde_json::{Value, json};

use crate::support::{Folder, ramp};

fn object(folder: &Folder, args: &[&str], status: i32) -> Value {
    let ran = folder.run(args);
    assert_eq!(ran.status, status, "{}", ran.stderr);
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn info_as_json() {
    let folder = Folder::new();
    folder.write("meta.json", r#"{"b": [1, 2], "a": NaN}"#);
    folder.write("data", ramp(5000));
    folder
        .run(["c", "-z", "1K", "-c", "zlib", "-m", "meta.json", "data"])
        .succeeded();
    let info = object(&folder, &["info", "--json", "data.blp"], 0);
    let expected = json!({
        "path": "data.blp",
        "kind": "bloscpack",
        "layout": "V3",
        "format_version": 3,
        "checksum": "crc32",
        "typesize": 8,
        "chunk_size": 1024,
        "last_chunk": 904,
        "nchunks": 5,
        "max_app_chunks": 50,
        "offsets": true,
        "metadata": {"b": [1, 2], "a": "NaN"},
        "chunks": 5,
        "uncompressed_bytes": 5000,
        "file_bytes": folder.read("data.blp").len(),
        "codecs": ["zlib"],
        "filters": ["byte"],
        "state": "complete",
        "indexed": true,
        "warnings": [],
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&info[key], value, "{key}");
    }
    let compressed = info["compressed_bytes"].as_u64().unwrap();
    assert!((100..5000).contains(&compressed), "{compressed}");
    assert_eq!(info["members"].as_array().unwrap().len(), 1);
    assert_eq!(info["members"][0]["at"], 0);
}

#[test]
fn what_is_unknown_or_absent_is_null() {
    let folder = Folder::new();
    folder.write(
        "stream",
        folder.run_with(["c", "-z", "1K"], ramp(5000)).succeeded(),
    );
    let info = object(&folder, &["info", "--json", "stream"], 0);
    for key in ["last_chunk", "nchunks", "max_app_chunks", "metadata"] {
        assert_eq!(info[key], Value::Null, "{key}");
    }
    assert_eq!(info["chunks"], 5);
    assert_eq!(info["uncompressed_bytes"], 5000);
    assert_eq!(info["state"], "complete");

    folder.write("one", folder.compressed(&["--format", "1"], &ramp(5000)));
    let info = object(&folder, &["info", "--json", "one"], 0);
    assert_eq!(
        (&info["layout"], &info["format_version"]),
        (&json!("V1"), &json!(1))
    );
    assert_eq!(info["nchunks"], 1);
    assert_eq!(
        (&info["typesize"], &info["chunk_size"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(info["checksum"], "None");
}

#[test]
fn info_of_what_is_not_whole() {
    let folder = Folder::new();
    let stream = folder.run_with(["c", "-z", "1K"], ramp(5000)).succeeded();
    folder.write("cut", &stream[..stream.len() - 20]);
    let info = object(&folder, &["info", "--json", "cut"], 4);
    assert_eq!(
        (&info["state"], &info["chunks"]),
        (&json!("unterminated"), &json!(5))
    );

    let mut packed = folder.compressed(&["-z", "1K", "--max-app-chunks", "0"], &ramp(5000));
    packed[32..72].fill(0xff);
    folder.write("unindexed", &packed);
    let info = object(&folder, &["info", "--json", "unindexed"], 0);
    assert_eq!(
        (&info["state"], &info["indexed"]),
        (&json!("complete"), &json!(false))
    );

    let first = u32::from_le_bytes(packed[72 + 12..72 + 16].try_into().unwrap()) as usize;
    folder.write("unfinished", &packed[..72 + first + 4]);
    let info = object(&folder, &["info", "--json", "unfinished"], 4);
    assert_eq!(
        (&info["state"], &info["chunks"]),
        (&json!("unfinished"), &json!(1))
    );
}

#[test]
fn info_of_a_concatenation() {
    let folder = Folder::new();
    let one = folder.compressed(&["-c", "zstd"], &ramp(5000));
    let two = folder.compressed(&["-c", "lz4", "-k", "md5"], &ramp(3000));
    folder.write("both", [one.clone(), two].concat());
    let info = object(&folder, &["info", "--json", "both"], 0);
    assert_eq!(info["checksum"], "crc32");
    assert_eq!(info["uncompressed_bytes"], 8000);
    assert_eq!(info["codecs"], json!(["lz4", "zstd"]));
    assert_eq!(info["members"].as_array().unwrap().len(), 2);
    assert_eq!(info["members"][1]["at"], one.len());
    assert_eq!(info["members"][1]["checksum"], "md5");
    assert_eq!(info["members"][1]["uncompressed_bytes"], 3000);

    let text = folder.run(["info", "both"]);
    for words in [
        "member 0 at byte 0",
        "member 1 at byte ",
        "all members",
        "md5",
        "crc32",
    ] {
        assert!(text.text().contains(words), "{words}: {}", text.text());
    }
}

#[test]
fn info_for_people() {
    let folder = Folder::new();
    folder.write("meta.json", r#"{"answer": 42}"#);
    folder.write(
        "data.blp",
        folder.compressed_with_metadata("meta.json", &ramp(3_000_000)),
    );
    let ran = folder.run(["info", "data.blp"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let text = ran.text();
    assert!(text.starts_with("data.blp\n"), "{text}");
    for line in [
        "  kind:                bloscpack\n",
        "  layout:              V3\n",
        "  format_version:      3\n",
        "  state:               complete\n",
        "  checksum:            crc32\n",
        "  typesize:            8\n",
        "  chunk_size:          1.00M (1048576B)\n",
        "  last_chunk:          881.69K (902848B)\n",
        "  nchunks:             3\n",
        "  offsets:             yes\n",
        "  max_app_chunks:      30\n",
        "  uncompressed_bytes:  2.86M (3000000B)\n",
        "\"answer\": 42",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn verify_sound_files() {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(&["-z", "1K"], &ramp(5000)));
    folder.write("b.blp", folder.compressed(&[], b"x"));
    let said = folder.run(["verify", "a.blp", "b.blp"]).succeeded();
    let expected = "a.blp: ok, 5 chunks, 5000 bytes\nb.blp: ok, 1 chunk, 1 byte\n";
    assert_eq!(String::from_utf8(said).unwrap(), expected);
    let packed = folder.read("a.blp");
    let said = folder.run_with(["verify"], packed).succeeded();
    assert_eq!(said, b"-: ok, 5 chunks, 5000 bytes\n");
}

/// Five chunks, of which the second and the fourth are damaged; and where those begin.
fn damaged(folder: &Folder) -> (Vec<u8>, [usize; 2]) {
    let mut packed = folder.compressed(&["-z", "1K", "-o"], &ramp(5000));
    let mut starts = vec![32];
    for _ in 0..4 {
        let at = *starts.last().unwrap();
        let length = u32::from_le_bytes(packed[at + 12..at + 16].try_into().unwrap());
        starts.push(at + length as usize + 4);
    }
    for number in [1, 3] {
        packed[starts[number] + 40] ^= 4;
    }
    (packed, [starts[1], starts[3]])
}

#[test]
fn verify_reports_each_damage() {
    let folder = Folder::new();
    let (packed, [second, fourth]) = damaged(&folder);
    folder.write("bad.blp", packed);
    let ran = folder.run(["verify", "bad.blp"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (3, ""));
    let lines: Vec<&str> = ran.text().lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for (line, (chunk, at, content)) in lines
        .iter()
        .zip([(1, second, "1024..2048"), (3, fourth, "3072..4096")])
    {
        let begin = format!("bad.blp: damaged: chunk {chunk} (byte {at}): crc32 mismatch: ");
        assert!(line.starts_with(&begin), "{line}");
        assert!(line.ends_with(&format!("; content {content}")), "{line}");
    }
}

#[test]
fn verify_as_json() {
    let folder = Folder::new();
    let (packed, [second, fourth]) = damaged(&folder);
    folder.write("bad.blp", packed);
    folder.write("good.blp", folder.compressed(&[], b"some bytes"));
    let args = ["verify", "--json", "good.blp", "bad.blp", "missing.blp"];
    let report = object(&folder, &args, 3);
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(
        (&files[0]["path"], &files[0]["ok"]),
        (&json!("good.blp"), &json!(true))
    );
    assert_eq!(
        (&files[0]["chunks"], &files[0]["bytes"]),
        (&json!(1), &json!(10))
    );
    assert_eq!(
        (&files[1]["status"], &files[1]["ok"]),
        (&json!(3), &json!(false))
    );
    let damages = files[1]["damages"].as_array().unwrap();
    assert_eq!(damages.len(), 2);
    assert_eq!(
        (&damages[0]["chunk"], &damages[0]["byte"]),
        (&json!(1), &json!(second))
    );
    assert_eq!(damages[0]["content"], json!({"start": 1024, "end": 2048}));
    assert_eq!(damages[0]["code"], "digest");
    assert_eq!(
        (&damages[1]["chunk"], &damages[1]["byte"]),
        (&json!(3), &json!(fourth))
    );
    assert_eq!(
        (&files[2]["status"], &files[2]["chunks"]),
        (&json!(1), &Value::Null)
    );
    assert!(files[2]["error"].as_str().unwrap().contains("missing.blp"));
    assert_eq!(files[2]["code"], "io");
}

#[test]
fn verify_gives_the_worst_status() {
    let folder = Folder::new();
    folder.write("good", folder.compressed(&[], b"some bytes"));
    folder.write("bad", damaged(&folder).0);
    folder.write("cut", &folder.read("good")[..100]);
    folder.write("text", "this is a text");
    for (names, status) in [
        (&["good", "good"][..], 0),
        (&["missing", "good"], 1),
        (&["good", "bad", "missing"], 3),
        (&["cut", "bad", "good"], 4),
        (&["text", "cut", "bad"], 5),
    ] {
        let args = [&["verify"], names].concat();
        let ran = folder.run(args);
        assert_eq!(
            ran.status,
            status,
            "{names:?}: {} {}",
            ran.text(),
            ran.stderr
        );
        // Each file has its say.
        for name in names {
            let said = format!("{}{}", ran.text(), ran.stderr);
            assert!(said.contains(name), "{name}: {said}");
        }
    }
}

#[test]
fn verbose_tells_what_was_done() {
    let folder = Folder::new();
    folder.write("data", ramp(5000));
    let ran = folder.run(["-v", "c", "data"]);
    assert_eq!(ran.status, 0);
    let length = folder.read("data.blp").len();
    for words in ["'data'", "'data.blp'", "(5000B)", &length.to_string()] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let debug = folder.run(["-d", "-n", "3", "-f", "c", "data"]);
    assert!(debug.stderr.contains("3 threads"), "{}", debug.stderr);
}

#[test]
fn the_bar_can_be_forced_and_stays_off_standard_output() {
    let folder = Folder::new();
    let plain = ramp(3_000_000);
    let ran = folder.run_with(["--progress", "always", "c"], &plain);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("MiB"), "{:?}", ran.stderr);
    assert_eq!(folder.run_with(["d"], ran.stdout).succeeded(), plain);
    let ran = folder.run_with(["--progress", "auto", "c"], &plain);
    assert_eq!(ran.stderr, "");
}
