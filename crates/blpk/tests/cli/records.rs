//! Tests of `blpk records`: packing, unpacking, finding by number and appending; and of the other commands on such
//! files.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use bloscpack::records::RecordWriter;
use serde_json::{Value, json};

use crate::support::{BLPK, Folder, Ran, fields, noise};

/// The ways to lay records down.
const FORMS: [&[&str]; 9] = [
    &[],
    &["--packed"],
    &["--small"],
    &["--quick"],
    &["--format", "3"],
    &["--packed", "--format", "3", "--max-app-chunks", "7"],
    &["-c", "zstd", "-l", "3", "-k", "sha256"],
    &["--packed", "-z", "100", "-c", "zlib", "-k", "None"],
    &["--small", "-z", "1K", "-c", "lz4"],
];

/// The ways to separate records.
const SEPARATORS: [&[&str]; 3] = [&[], &["-0"], &["--lengths"]];

/// Bits of the header's options.
const OFFSETS: u8 = 1;
const METADATA: u8 = 2;
const VARLEN: u8 = 4;
const SEALED: u8 = 8;

/// None, one byte, many; text, and noise without a separator; some longer than a packed chunk.
fn records() -> Vec<Vec<u8>> {
    let mut records: Vec<Vec<u8>> = (0..2000).map(|n| n.to_string().into_bytes()).collect();
    records.extend([
        vec![],
        vec![],
        b"\r".to_vec(),
        "Grüße\r".into(),
        vec![0xff; 300],
    ]);
    for len in [99, 100, 101, 4096, 70_000, 300_000] {
        let mut bytes = noise(len);
        bytes.retain(|byte| !matches!(byte, 0 | b'\n'));
        records.push(bytes);
    }
    records.push(vec![]);
    records
}

/// Records as plain bytes, separated as the option says.
fn joined<T: AsRef<[u8]>>(records: &[T], separator: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        let record = record.as_ref();
        match separator {
            ["--lengths"] => {
                bytes.extend(u32::try_from(record.len()).unwrap().to_le_bytes());
                bytes.extend(record);
            }
            ["-0"] => bytes.extend([record, b"\0"].concat()),
            _ => bytes.extend([record, b"\n"].concat()),
        }
    }
    bytes
}

fn args<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

/// A folder with `a.blp`, which has these lines.
fn packed(options: &[&str], lines: &str) -> Folder {
    let folder = Folder::new();
    pack(&folder, options, lines);
    folder
}

fn pack(folder: &Folder, options: &[&str], lines: &str) {
    let pack = args(&[&["records", "pack", "-f", "a.blp"], options]);
    folder.run_with(pack, lines).succeeded();
}

fn unpack(folder: &Folder, name: &str) -> String {
    let ran = folder.run(["records", "unpack", name]);
    String::from_utf8(ran.succeeded()).unwrap()
}

fn info(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.run(["info", "--json", name]).succeeded()).unwrap()
}

#[test]
fn all_separators_and_forms_there_and_back() {
    let folder = Folder::new();
    for separator in SEPARATORS {
        let plain = joined(&records(), separator);
        folder.write("in", &plain);
        for form in FORMS {
            let pack = args(&[&["records", "pack", "-f"], separator, form]);
            folder.run(args(&[&pack, &["in", "a.blp"]])).succeeded();
            let unpack = args(&[&["records", "unpack", "-f"], separator]);
            let ran = folder.run(args(&[&unpack, &["a.blp", "out"]]));
            assert_eq!(ran.succeeded(), b"");
            assert_eq!(folder.read("out"), plain, "{separator:?} {form:?}");

            let stream = folder.run_with(args(&[&pack, &["-"]]), &plain).succeeded();
            let ran = folder.run_with(args(&[&unpack, &["-"]]), stream);
            assert_eq!(ran.succeeded(), plain, "{separator:?} {form:?}");
            folder.run(["verify", "-q", "a.blp"]).status_is(0);
        }
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    folder.write("in", joined(&records(), &[]));
    for form in FORMS {
        let mut written = Vec::new();
        for threads in ["1", "2", "7"] {
            let pack = args(&[&["records", "pack", "-f", "-n", threads, "in"], form]);
            folder.run(args(&[&pack, &["a.blp"]])).succeeded();
            let stream = folder.run(args(&[&pack, &["-"]])).succeeded();
            let unpack = ["records", "unpack", "-n", threads, "a.blp"];
            written.push((folder.read("a.blp"), stream, folder.run(unpack).succeeded()));
        }
        assert!(written.iter().all(|one| *one == written[0]), "{form:?}");
    }
}

#[test]
fn a_file_has_offsets_and_a_stream_an_end_mark() {
    let folder = packed(&["--one-per-chunk"], "one\ntwo\n");
    let header = fields(&folder.read("a.blp"));
    let all = OFFSETS | METADATA | VARLEN | SEALED;
    assert_eq!((header.version, header.options), (2, all));
    assert_eq!((header.checksum, header.nchunks), (2, 2));
    assert_eq!((header.chunk_size, header.last_chunk), (-1, -1));

    pack(
        &folder,
        &["--one-per-chunk", "--format", "3", "--max-app-chunks", "5"],
        "one\ntwo\n",
    );
    let header = fields(&folder.read("a.blp"));
    assert_eq!(
        (header.version, header.options),
        (3, OFFSETS | METADATA | VARLEN)
    );
    assert_eq!((header.nchunks, header.max_app_chunks), (2, 5));

    let stream = folder
        .run_with(["records", "pack", "--one-per-chunk", "-"], "one\ntwo\n")
        .succeeded();
    let header = fields(&stream);
    assert_eq!(header.options, METADATA | VARLEN | SEALED);
    assert_eq!(header.nchunks, -1);
    let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
    assert_eq!(stream[stream.len() - 20..][..16], mark);
}

#[test]
fn what_a_line_is() {
    let cases: [(&str, &[&str]); 7] = [
        ("", &[]),
        ("\n", &[""]),
        ("a", &["a"]),
        ("a\n", &["a"]),
        ("a\n\n", &["a", ""]),
        ("\na\nb", &["", "a", "b"]),
        ("a\r\nb\0c\r\n", &["a\r", "b\0c\r"]),
    ];
    for form in FORMS {
        for (text, expected) in cases {
            let folder = packed(form, text);
            let ran = folder.run(["records", "unpack", "--lengths", "a.blp"]);
            let expected = joined(expected, &["--lengths"]);
            assert_eq!(ran.succeeded(), expected, "{form:?} {text:?}");
        }
    }
}

#[test]
fn single_records_and_ranges() {
    for form in FORMS {
        let records = records();
        let folder = Folder::new();
        let pack = args(&[&["records", "pack", "a.blp"], form]);
        folder.run_with(pack, joined(&records, &[])).succeeded();
        let get = |numbers: &[&str]| {
            let ran = folder.run(args(&[&["records", "get", "a.blp"], numbers]));
            ran.succeeded()
        };
        for number in [0, 1, 1999, 2000, 2004, 2009, 2010, 2011] {
            let found = get(&[&number.to_string()]);
            assert_eq!(
                found,
                joined(&records[number..=number], &[]),
                "{form:?} {number}"
            );
        }
        assert_eq!(get(&["2000..2005"]), joined(&records[2000..2005], &[]));
        assert_eq!(get(&["2006.."]), joined(&records[2006..], &[]));
        assert_eq!(get(&["..3"]), b"0\n1\n2\n");
        assert_eq!(get(&[".."]), joined(&records, &[]));
        assert_eq!(get(&["5..5", "2012..", "..0"]), b"");
        assert_eq!(get(&["17", "3..5", "17"]), b"17\n3\n4\n17\n");
        assert_eq!(get(&["-0", "17", "3..5"]), b"17\x003\x004\0");
        folder.write("numbers", "1999\n 5 \n3..5\n5\n");
        assert_eq!(get(&["17", "--from", "numbers"]), b"17\n1999\n5\n3\n4\n5\n");
        let all: String = (0..2012)
            .rev()
            .map(|number| format!("{number}\n"))
            .collect();
        let ran = folder.run_with(["records", "get", "a.blp", "--from", "-"], all);
        let backwards: Vec<_> = records.iter().rev().cloned().collect();
        assert_eq!(ran.succeeded(), joined(&backwards, &[]));
        assert_eq!(get(&["--lengths", "17"]), b"\x02\0\0\x0017");
        assert_eq!(get(&["--raw", "17", "3..5"]), b"1734");
    }
}

#[test]
fn records_that_are_not_there() {
    for form in FORMS {
        let folder = packed(form, "a\nb\nc\n");
        for (numbers, told) in [
            ("3", "there is no record 3"),
            (
                "18446744073709551615",
                "there is no record 18446744073709551615",
            ),
            ("1..4", "there are no records 1..4"),
            ("4..", "there are no records 4.."),
            ("..4", "there are no records 0..4"),
        ] {
            // Nothing is printed if not all can be.
            let ran = folder.run(["records", "get", "a.blp", "0", numbers]);
            let ran = ran
                .failed(2, told)
                .failed(2, "it has 3 records, counted from 0");
            assert_eq!(ran.stdout, b"");
        }
        for wrong in ["2..1", "-1", "x", "1..2..3", ""] {
            folder.run(["records", "get", "a.blp", wrong]).status_is(2);
        }
        folder.run(["records", "get", "a.blp"]).failed(2, "<N>");
        folder.write("numbers", "1\nx\n");
        folder
            .run(["records", "get", "a.blp", "--from", "numbers"])
            .failed(2, "'numbers', line 2: ");
    }
    let folder = packed(&[], "");
    folder
        .run(["records", "get", "a.blp", "0"])
        .failed(2, "it has 0 records");
    assert_eq!(
        folder.run(["records", "get", "a.blp", ".."]).succeeded(),
        b""
    );
}

#[test]
fn by_number_only_from_a_regular_file() {
    let folder = packed(&["--quick"], "a\nb\n");
    let ran = folder.run_with(["records", "get", "-", "1"], folder.read("a.blp"));
    ran.failed(2, "only in a regular file")
        .failed(2, "blpk records unpack reads a pipe");
    let file = std::fs::File::open(folder.path("a.blp")).unwrap();
    let mut get = Command::new(BLPK);
    let ran: Ran = get
        .args(["records", "get", "-", "1"])
        .stdin(file)
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.succeeded(), b"b\n");
}

#[test]
fn a_record_that_could_not_be_told_from_two() {
    for form in FORMS {
        let folder = Folder::new();
        let records = ["plain", "two\nlines", "a\0b"];
        let pack = args(&[&["records", "pack", "--lengths", "a.blp"], form]);
        folder
            .run_with(pack, joined(&records, &["--lengths"]))
            .succeeded();

        let ran = folder.run(["records", "unpack", "a.blp"]);
        let ran = ran
            .failed(2, "record 1 contains a line break")
            .failed(2, "-0 or --lengths");
        assert_eq!(ran.stdout, b"plain\n");
        let ran = folder.run(["records", "unpack", "-0", "a.blp", "out"]);
        ran.failed(2, "record 2 contains a NUL byte")
            .failed(2, "'out' was not written");
        assert_eq!(folder.names(), ["a.blp"]);

        let ran = folder.run(["records", "unpack", "-f", "a.blp"]);
        assert_eq!(ran.succeeded(), b"plain\ntwo\nlines\na\0b\n");
        let ran = folder.run(["records", "unpack", "--lengths", "a.blp"]);
        assert_eq!(ran.succeeded(), joined(&records, &["--lengths"]));
        // A single record needs no separator.
        let ran = folder.run(["records", "get", "a.blp", "1"]);
        assert_eq!(ran.succeeded(), b"two\nlines\n");
    }
}

#[test]
fn lengths_that_the_input_does_not_keep() {
    let folder = Folder::new();
    let run = |input: &[u8]| {
        folder.run_with(
            ["records", "pack", "--one-per-chunk", "--lengths", "a.blp"],
            input,
        )
    };
    run(b"\x01\0\0\0a\x05\0").failed(4, "2 of the 4 bytes for the length of record 1");
    run(b"\x01\0\0\0a\x05\0\0\0bcd").failed(
        4,
        "record 1 has 5 bytes, but the input ends after 3 of them",
    );
    // As many as a record may have, and more.
    run(b"\xef\xff\xff\x7fabc").failed(4, "record 0 has 2147483631 bytes");
    run(b"\xf0\xff\xff\x7fabc").failed(5, "the maximum record length is 2147483631 bytes");
    run(b"\xff\xff\xff\xffabc").failed(5, "record 0 has 4294967295 bytes");
    assert!(folder.names().is_empty());
}

/// Without an option, the lines of a log share chunks, and documents have one each.
#[test]
fn the_layout_follows_the_first_records() {
    let folder = Folder::new();
    let line = |number: usize| {
        format!(
            "2026-11-28T12:00:{:02}Z INFO request {number} took {} ms\n",
            number % 60,
            number * 7919 % 1000
        )
    };
    let lines: String = (0..20_000).map(line).collect();
    folder.write("log", &lines);
    folder
        .run(["records", "pack", "log", "log.blp"])
        .succeeded();
    let size = folder.read("log.blp").len();
    assert!(size < lines.len() / 4, "{size} of {}", lines.len());
    assert_eq!(
        folder.run(["records", "unpack", "log.blp"]).succeeded(),
        lines.as_bytes()
    );
    // A file of two lines has no room for 64 offsets.
    pack(&folder, &[], "one\ntwo\n");
    assert!(folder.read("a.blp").len() < 250);
    pack(
        &folder,
        &[],
        &format!("{0}\n{0}\n", "word ".repeat(100_000)),
    );
    assert_eq!(fields(&folder.read("a.blp")).nchunks, 2);
}

#[test]
fn records_over_the_limit() {
    let folder = Folder::new();
    for (form, most) in [(&["--one-per-chunk"][..], 200), (&["--packed"], 180)] {
        let options = ["--limit", "chunk=200", "records", "pack", "-f"];
        let run = |separator: &[&str], len: usize, name: &str| {
            let input = joined(&[vec![], vec![b'x'; len]], separator);
            folder.run_with(args(&[&options, form, separator, &[name]]), input)
        };
        for separator in SEPARATORS {
            run(separator, most, "a.blp").succeeded();
            // Accepted records can be read with the same limit.
            let back = ["--limit", "chunk=200", "records", "unpack", "a.blp"];
            assert_eq!(folder.run(back).succeeded().len(), most + 2);
            let ran = run(separator, most + 1, "b.blp");
            ran.failed(5, "record 1").failed(5, "--limit chunk=SIZE");
        }
        // Without an end in sight.
        run(&["-0"], 10_000_000, "-").failed(5, "record 1 exceeds the maximum record length");
    }
    assert_eq!(folder.names(), ["a.blp"]);
}

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    folder.write("in", "a\n");
    folder.write("list.json", "[1]");
    folder.write("dtype.json", r#"{"dtype": "json"}"#);
    for (wrong, told) in [
        (&["-0", "--lengths"][..], "cannot be used with"),
        (&["--small", "--quick"], "cannot be used with"),
        (&["-z", "1K", "--one-per-chunk"], "cannot be used with"),
        (&["--packed", "-z", "63"], "64 to 16777216 bytes"),
        (&["--packed", "-z", "17M"], "64 to 16777216 bytes"),
        (&["--packed", "-z", "max"], "is not a size"),
        (&["--max-app-chunks", "3"], "only --format 3"),
        (&["--format", "1"], "must be 2 or 3"),
        (&["-l", "10"], "must be 0 to 9"),
        (&["-c", "rar"], "invalid value 'rar'"),
        (&["-m", "list.json"], "must be a JSON object"),
        (&["-m", "dtype.json", "--dtype", "x"], "omit --dtype"),
        (&["--raw"], "unexpected argument"),
    ] {
        let ran = folder.run(args(&[&["records", "pack"], wrong, &["in", "out"]]));
        ran.failed(2, told);
    }
    folder.run(["records", "pack"]).failed(2, "missing OUT");
    folder.run(["records", "unpack"]).failed(2, "<FILE>");
    folder.run(["records", "append"]).failed(2, "<FILE>");
    for conflict in ["-0", "--lengths"] {
        folder
            .run(["records", "get", "--raw", conflict, "in", "0"])
            .failed(2, "cannot be used");
    }
    assert_eq!(folder.run(["records"]).status, 2);
    assert_eq!(folder.names(), ["dtype.json", "in", "list.json"]);
}

#[test]
fn outputs_are_not_lost() {
    let folder = packed(&[], "a\n");
    folder.write("in", "b\n");
    let old = folder.read("a.blp");
    folder
        .run(["records", "pack", "in", "a.blp"])
        .failed(1, "'a.blp' already exists");
    folder
        .run(["records", "pack", "-f", "a.blp", "a.blp"])
        .failed(2, "are the same file");
    folder
        .run(["records", "unpack", "a.blp", "in"])
        .failed(1, "'in' already exists");
    folder
        .run(["records", "unpack", "-f", "a.blp", "a.blp"])
        .failed(2, "are the same file");
    folder
        .run(["records", "append", "a.blp", "a.blp"])
        .failed(2, "are the same file");
    folder
        .run(["records", "pack", "none", "b.blp"])
        .failed(1, "'none'");
    // One name is that of the output.
    folder
        .run(["records", "pack", "in"])
        .failed(2, "'in' exists and is not a Bloscpack file");
    assert_eq!(folder.read("a.blp"), old);
    assert_eq!(folder.names(), ["a.blp", "in"]);
}

#[test]
fn metadata_goes_along() {
    let folder = Folder::new();
    folder.write(
        "own.json",
        r#"{"unit": "mV", "shape": "round", "n": 1e300}"#,
    );
    for form in FORMS {
        let options = args(&[form, &["-m", "own.json"]]);
        pack(
            &folder,
            &args(&[&options, &["--dtype", "varchar"]]),
            "a\nb\n",
        );
        let info = info(&folder, "a.blp");
        assert_eq!(info["dtype"], "varchar");
        assert_eq!(info["metadata"]["unit"], "mV");
        assert_eq!(info["metadata"]["shape"], json!([2]));
        pack(&folder, &options, "a\nb\n");
        assert_eq!(self::info(&folder, "a.blp")["dtype"], "varbinary");
    }
}

#[test]
fn info_tells_of_records() {
    let folder = packed(&["--one-per-chunk"], "a\nbc\n\n");
    let told = info(&folder, "a.blp");
    assert_eq!(told["kind"], "records");
    assert_eq!((&told["records"], &told["nchunks"]), (&json!(3), &json!(3)));
    assert_eq!(
        (&told["packing"], &told["dtype"]),
        (&Value::Null, &json!("varbinary"))
    );
    assert_eq!(
        (&told["chunk_size"], &told["uncompressed_bytes"]),
        (&Value::Null, &json!(3))
    );
    let text = folder.run(["info", "a.blp"]).succeeded();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("\n  records:             3, one per chunk\n"),
        "{text}"
    );

    pack(&folder, &["--packed", "-z", "2K"], "a\nbc\n\n");
    let told = info(&folder, "a.blp");
    assert_eq!((&told["records"], &told["nchunks"]), (&json!(3), &json!(1)));
    let packing = json!({"name": "lengths", "version": 1, "chunk_size": 2048});
    assert_eq!(told["packing"], packing);
    assert_eq!(told["members"][0]["records"], 3);
    let text = folder.run(["info", "a.blp"]).succeeded();
    let text = String::from_utf8(text).unwrap();
    let line = "\n  records:             3, packed into chunks of up to 2.00K (2048B)\n";
    assert!(text.contains(line), "{text}");

    folder.write("content.blp", folder.compressed(&[], b"text"));
    assert_eq!(info(&folder, "content.blp").get("records"), None);
}

#[test]
fn info_counts_the_packed_records_of_a_stream_where_that_is_cheap() {
    let folder = Folder::new();
    let lines = joined(&records(), &[]);
    let stream = folder
        .run_with(["records", "pack", "--quick", "-"], &lines)
        .succeeded();
    folder.write("a.blp", &stream);
    assert_eq!(info(&folder, "a.blp")["records"], 2012);
    let piped = folder.run_with(["info", "--json"], &stream).succeeded();
    let piped: Value = serde_json::from_slice(&piped).unwrap();
    assert_eq!(
        (&piped["records"], &piped["state"]),
        (&Value::Null, &json!("complete"))
    );
    let text = folder.run_with(["info"], &stream).succeeded();
    assert!(
        String::from_utf8(text)
            .unwrap()
            .contains("records:             unknown, packed")
    );

    // One a chunk are counted on the way.
    let stream = folder
        .run_with(["records", "pack", "--one-per-chunk", "-"], &lines)
        .succeeded();
    let piped = folder.run_with(["info", "--json"], &stream).succeeded();
    let piped: Value = serde_json::from_slice(&piped).unwrap();
    assert_eq!(piped["records"], 2012);
}

#[test]
fn cat_gives_one_record_behind_the_other() {
    let records = records();
    let plain = records.concat();
    for form in FORMS {
        let folder = Folder::new();
        let pack = args(&[&["records", "pack", "a.blp"], form]);
        folder.run_with(pack, joined(&records, &[])).succeeded();
        let file = folder.read("a.blp");
        assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), plain);
        assert_eq!(folder.run_with(["cat"], &file).succeeded(), plain);
        let len = plain.len();
        for (text, range) in [
            ("0..0", 0..0),
            ("..1", 0..1),
            ("100..7000", 100..7000),
            ("7000..300K", 7000..300 << 10),
            ("300000..", 300_000..len),
        ] {
            let ran = folder.run(["cat", "--range", text, "a.blp"]);
            assert!(ran.succeeded() == plain[range.clone()], "{form:?} {text}");
            let ran = folder.run_with(["cat", "--range", text], &file);
            assert!(
                ran.succeeded() == plain[range],
                "{form:?} {text} from a pipe"
            );
        }
        let past = format!("{}..{}", len - 3, len + 1);
        let ran = folder.run(["cat", "--range", &past, "a.blp"]);
        assert_eq!(
            ran.failed(2, "extends past the end").stdout,
            plain[len - 3..]
        );
    }
}

#[test]
fn cat_gives_the_records_of_a_chunk() {
    let lines = "0123456789\n".repeat(20);
    let folder = packed(&["--packed", "-z", "100"], &lines);
    // 16 bytes of head, and 11 for each record.
    let chunk = |number: &str| folder.run(["cat", "--chunk", number, "a.blp"]);
    assert_eq!(chunk("0").succeeded(), "0123456789".repeat(7).as_bytes());
    assert_eq!(chunk("2").succeeded(), "0123456789".repeat(6).as_bytes());
    chunk("3")
        .failed(2, "there is no chunk 3")
        .failed(2, "it has 3 chunks");
    let piped = folder.run_with(["cat", "--chunk", "0"], folder.read("a.blp"));
    piped.failed(2, "needs a regular file");
    pack(&folder, &["--one-per-chunk"], "a\nbc\n");
    assert_eq!(chunk("1").succeeded(), b"bc");
}

#[test]
fn decompress_refuses_records_whose_ends_would_be_lost() {
    let folder = packed(&[], "a\nbc\n\nd\n");
    for form in [
        &[][..],
        &["--packed"],
        &["--small"],
        &["--quick", "--format", "3"],
    ] {
        pack(&folder, form, "a\nbc\n");
        let ran = folder.run(["d", "a.blp"]).failed(5, "contains records");
        ran.failed(5, "hint: use blpk records unpack");
        let ran = folder.run_with(["d"], folder.read("a.blp"));
        assert_eq!(ran.failed(5, "hint: use blpk records unpack").stdout, b"");
        assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), b"abc");
    }
    assert_eq!(folder.names(), ["a.blp"]);
}

#[test]
fn a_single_name_is_not_taken_for_what_is_to_be_read() {
    let folder = Folder::new();
    folder.write("app.log", "one\ntwo\n");
    for force in [&[][..], &["-f"]] {
        let command = args(&[&["records", "pack"], force, &["app.log"]]);
        let ran = folder.run_with(command, "");
        ran.failed(2, "hint: name both IN and OUT");
        assert_eq!(folder.read("app.log"), b"one\ntwo\n");
    }
    pack(&folder, &[], "a\n");
    folder
        .run_with(["records", "pack", "a.blp"], "b\n")
        .failed(1, "exists");
    folder
        .run_with(["records", "pack", "-f", "a.blp"], "b\n")
        .succeeded();
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), b"b");
}

#[test]
fn numbers_of_metadata_are_shown_digit_for_digit() {
    let folder = Folder::new();
    folder.write(
        "own.json",
        r#"{"n": [1e400, 12345678901234567890123, NaN], "s": "1e400"}"#,
    );
    pack(&folder, &["-m", "own.json"], "a\n");
    let report = folder.run(["info", "--json", "a.blp"]).succeeded();
    let report = String::from_utf8(report).unwrap();
    for (indent, times) in [("      ", 1), ("          ", 1)] {
        let numbers =
            format!("\n{indent}1e400,\n{indent}12345678901234567890123,\n{indent}\"NaN\"\n");
        assert_eq!(report.matches(&numbers).count(), times, "{report}");
    }
    let people = folder.run(["info", "a.blp"]).succeeded();
    assert!(
        String::from_utf8(people)
            .unwrap()
            .contains("12345678901234567890123")
    );
}

#[test]
fn a_file_without_records_is_refused() {
    let folder = Folder::new();
    let content = folder.compressed(&[], b"text");
    folder.write("a.blp", &content);
    let hint = "blpk decompress and blpk cat read it";
    folder.run(["records", "unpack", "a.blp"]).failed(5, hint);
    folder
        .run_with(["records", "unpack", "-"], &content)
        .failed(5, hint);
    folder.run(["records", "get", "a.blp", "0"]).failed(5, hint);
    let ran = folder.run_with(["records", "append", "a.blp"], "x\n");
    ran.failed(5, "blpk append adds to its content")
        .failed(5, "'a.blp' is unchanged");
    assert_eq!(folder.read("a.blp"), content);
    folder.write("junk", "this is no such file");
    folder
        .run(["records", "unpack", "junk"])
        .failed(5, "not a Bloscpack file");
    folder
        .run(["records", "get", "junk", "0"])
        .failed(5, "not a Bloscpack file");
    folder.run(["records", "unpack", "-"]).status_is(4);
}

#[test]
fn an_unknown_packing_is_refused() {
    let folder = packed(&["--packed"], "a\nb\n");
    let mut file = folder.read("a.blp");
    // No seal.
    file[5] &= !SEALED;
    file[28..32].fill(0);
    let at = file
        .windows(9)
        .position(|window| window == b"\"lengths\"")
        .unwrap();
    file[at + 1] = b'L';
    folder.write("a.blp", &file);
    let told = "packed in a way that is not known here";
    folder.run(["records", "unpack", "a.blp"]).failed(5, told);
    folder.run(["records", "get", "a.blp", "0"]).failed(5, told);
    folder.run(["cat", "a.blp"]).failed(5, told);
    folder
        .run(["d", "a.blp", "-"])
        .failed(5, "contains records");
    folder
        .run_with(["records", "append", "a.blp"], "x")
        .failed(5, told);
    assert_eq!(info(&folder, "a.blp")["packing"]["name"], "Lengths");
    assert_eq!(folder.read("a.blp"), file);
}

#[test]
fn damage_is_found_and_what_is_sound_before_it_comes_out() {
    for form in [&["--one-per-chunk"][..], &["--packed", "-z", "64"]] {
        let lines: String = (100..200).map(|n| format!("{n}\n")).collect();
        let folder = packed(form, &lines);
        let mut file = folder.read("a.blp");
        let at = file.len() - 6;
        file[at] ^= 1;
        folder.write("bad.blp", &file);
        let ran = folder
            .run(["records", "unpack", "bad.blp"])
            .failed(3, "chunk");
        let ran = ran.failed(3, "mismatch").failed(3, "blpk recover");
        assert!(lines.as_bytes().starts_with(&ran.stdout), "{}", ran.text());
        assert!(ran.stdout.len() >= lines.len() - 50, "{}", ran.text());
        let ran = folder.run(["records", "unpack", "bad.blp", "out"]);
        ran.failed(3, "'out' was not written");
        folder.run(["cat", "bad.blp"]).failed(3, "mismatch");
        if form[0] == "--one-per-chunk" {
            let get = |number| folder.run(["records", "get", "bad.blp", number]);
            assert_eq!(get("98").succeeded(), b"198\n");
            get("99").failed(3, "chunk 99");
        }
        assert_eq!(folder.names(), ["a.blp", "bad.blp"]);
    }
}

#[test]
fn a_cut_stream_is_no_whole_one() {
    for form in FORMS {
        let folder = Folder::new();
        let lines = "some text\n".repeat(50);
        let pack = args(&[&["records", "pack"], form, &["-"]]);
        let stream = folder.run_with(pack, &lines).succeeded();
        // A digest of the file's kind follows the end mark of 16 bytes.
        let digest = if form.contains(&"None") {
            0
        } else if form.contains(&"sha256") {
            32
        } else {
            4
        };
        let cut = &stream[..stream.len() - 16 - digest];
        let ran = folder.run_with(["records", "unpack", "-"], cut);
        let ran = ran.failed(4, "without its end mark");
        let ran = ran.failed(4, "blpk records unpack --allow-unterminated");
        assert_eq!(ran.stdout, lines.as_bytes(), "{form:?}");
        let unpack = ["records", "unpack", "--allow-unterminated", "-"];
        assert_eq!(
            folder.run_with(unpack, cut).warned("end mark"),
            lines.as_bytes()
        );
        folder
            .run_with(["records", "unpack", "-"], &stream[..20])
            .status_is(4);
    }
}

#[test]
fn counts_that_no_file_could_have() {
    for form in [
        &["--format", "3", "-k", "None"][..],
        &["--packed", "--format", "3"],
    ] {
        let folder = packed(form, "a\nb\n");
        let whole = folder.read("a.blp");
        for count in [i64::MAX, i64::MAX / 8, 1 << 40, 3, 0, -2] {
            let mut file = whole.clone();
            file[16..24].copy_from_slice(&count.to_le_bytes());
            folder.write("bad.blp", &file);
            for command in [&["unpack", "bad.blp"][..], &["get", "bad.blp", "0"]] {
                let ran = folder.run(args(&[&["records"], command]));
                assert!(
                    (3..=5).contains(&ran.status),
                    "{count} {command:?}: {ran:?}"
                );
            }
        }
    }
}

#[test]
fn several_members() {
    let folder = packed(&["--one-per-chunk"], "a\nb\n");
    let plain = folder.read("a.blp");
    pack(&folder, &["--quick"], "c\nd\n");
    let quick = folder.read("a.blp");
    folder.write("both.blp", [&plain[..], &quick].concat());
    assert_eq!(unpack(&folder, "both.blp"), "a\nb\nc\nd\n");
    let told = "packed records of several members can only be read in order";
    folder
        .run(["records", "get", "both.blp", "2"])
        .failed(5, told);
    folder.write("both.blp", [&plain[..], &plain].concat());
    assert_eq!(
        folder
            .run(["records", "get", "both.blp", "1..3"])
            .succeeded(),
        b"b\na\n"
    );
    assert_eq!(info(&folder, "both.blp")["records"], 4);
}

#[test]
fn appended_records_follow_those_that_are_there() {
    let records = records();
    for form in FORMS {
        for separator in SEPARATORS {
            let folder = Folder::new();
            let pack = args(&[&["records", "pack", "a.blp"], separator, form]);
            folder
                .run_with(pack, joined(&records[..1500], separator))
                .succeeded();
            let append = args(&[&["records", "append", "a.blp"], separator]);
            for part in [1500..1501, 1501..1501, 1501..2009] {
                let more = joined(&records[part], separator);
                assert_eq!(folder.run_with(&append, more).succeeded(), b"");
            }
            folder.write("more", joined(&records[2009..], separator));
            let ran = folder.run(args(&[&append, &["more", "-c", "zstd", "-l", "1"]]));
            assert_eq!(ran.succeeded(), b"");

            let unpack = args(&[&["records", "unpack", "a.blp"], separator]);
            let found = folder.run(unpack).succeeded();
            assert!(
                found == joined(&records, separator),
                "{form:?} {separator:?}"
            );
            assert_eq!(info(&folder, "a.blp")["records"], 2012);
            assert_eq!(info(&folder, "a.blp")["metadata"]["shape"], json!([2012]));
            folder.run(["verify", "-q", "a.blp"]).status_is(0);
            assert_eq!(folder.names(), ["a.blp", "more"]);
        }
    }
}

#[test]
fn an_append_that_fails_changes_nothing() {
    for form in [&[][..], &["--packed", "--format", "3"]] {
        let folder = packed(form, "a\nb\n");
        let old = folder.read("a.blp");
        let append = |options: &[&str], input: &[u8]| {
            folder.run_with(args(&[options, &["records", "append", "a.blp"]]), input)
        };
        let kept = "'a.blp' is unchanged";
        folder
            .run_with(
                ["records", "append", "--lengths", "a.blp"],
                b"\x01\0\0\0a\x05\0\0\0bcd",
            )
            .failed(4, "record 1 has 5 bytes")
            .failed(4, kept);
        append(&["--limit", "chunk=100"], &[b'x'; 101])
            .failed(5, "record 0")
            .failed(5, kept);
        assert_eq!(folder.read("a.blp"), old);
        assert_eq!(folder.names(), ["a.blp"]);
        let damaged = [&old[..old.len() - 1], &[!old[old.len() - 1]]].concat();
        folder.write("a.blp", &damaged);
        if form.contains(&"--packed") {
            append(&[], b"c").failed(3, "chunk 0").failed(3, kept);
            assert_eq!(folder.read("a.blp"), damaged);
        }
    }
    let folder = Folder::new();
    let ran = folder.run_with(["records", "append", "none.blp"], "a\n");
    ran.failed(1, "'none.blp'")
        .failed(1, "'blpk records pack' makes a new file");
    folder
        .run_with(["records", "append", "-"], "a\n")
        .failed(2, "name a file");
    assert!(folder.names().is_empty());
}

#[test]
fn plain_bytes_are_not_appended_to_records() {
    let folder = packed(&[], "a\nb\n");
    let old = folder.read("a.blp");
    let ran = folder.run_with(["append", "a.blp"], "c");
    ran.failed(5, "contains records")
        .failed(5, "hint: use blpk records append");
    folder
        .run_with(["patch", "--at", "0", "a.blp"], "c")
        .failed(5, "contains records");
    assert_eq!(folder.read("a.blp"), old);
}

#[test]
fn reindex_fills_in_the_offsets_of_records() {
    let folder = Folder::new();
    let mut writer = RecordWriter::builder()
        .count(3)
        .write_to(Vec::new())
        .unwrap();
    for record in ["a", "b", "c"] {
        writer.push(record).unwrap();
    }
    folder.write("a.blp", writer.finish().unwrap());
    assert_eq!(info(&folder, "a.blp")["indexed"], false);
    folder.run(["reindex", "a.blp"]).succeeded();
    assert_eq!(info(&folder, "a.blp")["indexed"], true);
    assert_eq!(unpack(&folder, "a.blp"), "a\nb\nc\n");
    let ran = folder.run(["reindex", "a.blp"]).status_is(0);
    assert!(ran.stderr.contains("already filled in"), "{}", ran.stderr);

    let stream = folder.run_with(["records", "pack", "-"], "a\n").succeeded();
    folder.write("stream.blp", stream);
    folder
        .run(["reindex", "stream.blp"])
        .failed(2, "hint: unpack the records, then pack them");
}

/// Flushed records arrive while the writer continues.
#[test]
fn unpack_does_not_wait_for_the_end() {
    for packed in [false, true] {
        let mut unpack = Command::new(BLPK);
        let unpack = unpack.args(["records", "unpack", "-"]);
        let mut unpack = unpack
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = unpack.stdout.take().unwrap();
        let builder = RecordWriter::builder().threads(2);
        let builder = if packed { builder.quick() } else { builder };
        let mut writer = builder.write_to(unpack.stdin.take().unwrap()).unwrap();
        for line in ["one\n", "two\n", "three\n"] {
            writer.push(line.trim_end()).unwrap();
            writer.flush().unwrap();
            let mut arrived = vec![0; line.len()];
            output.read_exact(&mut arrived).unwrap();
            assert_eq!(arrived, line.as_bytes());
        }
        drop(writer.finish().unwrap());
        assert!(unpack.wait().unwrap().success());
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = packed(&["--quick"], &"some text\n".repeat(200_000));
    for command in ["unpack", "get"] {
        let mut child = Command::new(BLPK);
        child
            .args(["records", command, "a.blp"])
            .current_dir(folder.path(""));
        if command == "get" {
            child.arg("..");
        }
        let child = child.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut some = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        assert_eq!(&some, b"some text\n");
        let ran: Ran = child.wait_with_output().unwrap().into();
        ran.succeeded();
    }
}

#[test]
fn verbose_tells_how_many() {
    let folder = Folder::new();
    let run = |command: &[&str], input: &str| {
        let ran = folder
            .run_with(args(&[&["-v", "records"], command]), input)
            .status_is(0);
        ran.stderr
    };
    let told = run(&["pack", "--quick", "a.blp"], "a\nbc\n");
    assert!(
        told.contains("standard input, 2 records in 5B, packed into 'a.blp'"),
        "{told}"
    );
    let told = run(&["append", "a.blp"], "d\n");
    assert!(
        told.contains("1 record, appended to 'a.blp', which now has 3"),
        "{told}"
    );
    let told = run(&["unpack", "a.blp", "out"], "");
    assert!(told.contains("3 records unpacked to 'out', 7B"), "{told}");
}

/// A slow producer: records may come in any pieces.
#[test]
fn pieces_of_the_input_do_not_matter() {
    for separator in SEPARATORS {
        let folder = Folder::new();
        let records = ["", "a", "bc\r", "", "def"];
        let input = joined(&records, separator);
        let mut pack = Command::new(BLPK);
        pack.args(["records", "pack", "--packed"])
            .args(separator)
            .arg("a.blp");
        let pack = pack.current_dir(folder.path("")).stdin(Stdio::piped());
        let mut pack = pack.spawn().unwrap();
        let mut pipe = pack.stdin.take().unwrap();
        for byte in &input {
            pipe.write_all(&[*byte]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(pipe);
        assert!(pack.wait().unwrap().success());
        let unpack = args(&[&["records", "unpack", "a.blp"], separator]);
        assert_eq!(folder.run(unpack).succeeded(), input);
    }
}

/// The records "first" and "", as the package `tfrecord` 1.14 writes them.
const TFRECORD: &[u8] = b"\x05\0\0\0\0\0\0\0\xea\xb2\x04\x3efirst\x55\xff\x23\xe5\
    \0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2";

#[test]
fn tfrecord_files_both_ways() {
    let folder = Folder::new();
    folder.write("a.tfrecord", TFRECORD);
    folder
        .run(["records", "pack", "--tfrecord", "a.tfrecord", "a.blp"])
        .succeeded();
    let lines = folder.run(["records", "unpack", "a.blp"]).succeeded();
    assert_eq!(lines, b"first\n\n");
    let back = folder.run(["records", "unpack", "--tfrecord", "a.blp"]);
    assert_eq!(back.succeeded(), TFRECORD);
    let one = folder.run(["records", "get", "--tfrecord", "a.blp", "1"]);
    assert_eq!(one.succeeded(), &TFRECORD[21..]);

    // Any flipped bit, and any cut but those between records.
    for at in 0..TFRECORD.len() {
        let mut damaged = TFRECORD.to_vec();
        damaged[at] ^= 4;
        let ran = folder.run_with(["records", "pack", "--tfrecord", "-", "b.blp"], damaged);
        ran.failed(3, "checksum");
        let cut = &TFRECORD[..at];
        let ran = folder.run_with(["records", "pack", "--tfrecord", "-", "b.blp"], cut);
        if at == 0 || at == 21 {
            ran.succeeded();
            std::fs::remove_file(folder.path("b.blp")).unwrap();
        } else {
            ran.failed(4, "the input ends");
        }
    }
    folder.write("lines", "not a TFRecord file\n");
    let ran = folder.run(["records", "append", "--tfrecord", "a.blp", "lines"]);
    ran.failed(3, "is it a TFRecord file, and uncompressed?");
}

#[test]
fn a_log_rotates() {
    let folder = Folder::new();
    folder
        .run([
            "records",
            "pack",
            "--format",
            "3",
            "--quick",
            "/dev/null",
            "app.log.blp",
        ])
        .succeeded();
    let lines: String = (0..3000).map(|number| format!("{number}\n")).collect();
    let append = [
        "records",
        "append",
        "--rotate",
        "4K",
        "--flush-every",
        "2K",
        "app.log.blp",
    ];
    folder.run_with(append, lines.clone()).succeeded();
    let parts = folder.names();
    assert!(parts.len() > 2, "{parts:?}");
    // app.log-000001.blp, ..., and then app.log.blp
    let all: Vec<u8> = parts
        .iter()
        .flat_map(|part| folder.run(["records", "unpack", part]).succeeded())
        .collect();
    assert_eq!(String::from_utf8(all).unwrap(), lines);
    let ran = folder.run(["info", "--json", "app.log.blp"]).succeeded();
    let info: Value = serde_json::from_slice(&ran).unwrap();
    assert_eq!(info["metadata"]["rotation"]["part"], parts.len());
    for wrong in ["0", "1x", "-1s"] {
        folder
            .run(["records", "append", "--rotate", wrong, "app.log.blp"])
            .status_is(2);
    }
}
