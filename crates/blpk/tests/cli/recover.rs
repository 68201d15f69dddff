//! Tests of `blpk recover`, and of `blpk verify` past structural damage.

use bloscpack::{
    FormatVersion, Options,
    records::{IndexedRecordReader, RecordWriter},
    survey::Survey,
};
use serde_json::{Value, json};
use std::io::Cursor;

use crate::snapshot::interrupted;
use crate::support::{Folder, Ran, noise, ramp};

/// Five chunks with a table; and the position of each chunk, digest included.
fn five(folder: &Folder) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    let packed = folder.compressed(&["-z", "1K", "--max-app-chunks", "0"], &ramp(5000));
    let entry = |number: usize| {
        let at = 32 + 8 * number;
        let offset = u64::from_le_bytes(packed[at..at + 8].try_into().unwrap());
        usize::try_from(offset).unwrap()
    };
    let mut starts: Vec<_> = (0..5).map(entry).collect();
    starts.push(packed.len());
    let chunks = starts.windows(2).map(|two| two[0]..two[1]).collect();
    (packed, chunks)
}

fn report(ran: &Ran, status: i32) -> Value {
    assert_eq!(ran.status, status, "{} {}", ran.text(), ran.stderr);
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn a_lost_header_loses_no_content() {
    let folder = Folder::new();
    let (mut packed, _) = five(&folder);
    packed[..32].fill(0);
    folder.write("bad", &packed);
    folder
        .run(["d", "-e", "bad", "out"])
        .failed(5, "not a Bloscpack file");
    let ran = folder.run(["recover", "bad", "good.blp"]);
    // Its table shows that no chunk is missing, but there may have been metadata.
    assert_eq!(ran.status, 0, "{}", ran.text());
    assert!(
        ran.text().contains("recovered 5000 bytes from 5 chunks"),
        "{}",
        ran.text()
    );
    assert_eq!(folder.run(["d", "good.blp", "-"]).succeeded(), ramp(5000));
    folder.run(["verify", "good.blp"]).succeeded();
}

#[test]
fn what_is_lost_is_told_and_filled() {
    let folder = Folder::new();
    let (mut packed, chunks) = five(&folder);
    packed[chunks[1].start + 20..chunks[2].start + 30].fill(0xee);
    folder.write("bad.blp", &packed);
    let ran = folder.run(["recover", "--json", "bad.blp", "less.blp"]);
    let said = report(&ran, 3);
    let lost: Vec<_> = said["lost"]
        .as_array()
        .unwrap()
        .iter()
        .map(|lost| lost["content"].clone())
        .collect();
    let both = [
        json!({"start": 1024, "end": 2048}),
        json!({"start": 2048, "end": 3072}),
    ];
    assert!(
        lost == both || lost == [json!({"start": 1024, "end": 3072})],
        "{said}"
    );
    for (key, value) in [
        ("complete", json!(false)),
        ("chunks", json!(3)),
        ("chunks_lost", json!(2)),
        ("bytes", json!(5000 - 2048)),
        ("content_bytes", json!(5000)),
        ("header_lost", json!(false)),
        ("filled", json!(0)),
    ] {
        assert_eq!(said[key], value, "{key}: {said}");
    }
    let plain = ramp(5000);
    let kept = [&plain[..1024], &plain[3072..]].concat();
    assert_eq!(folder.run(["d", "less.blp", "-"]).succeeded(), kept);

    let said = report(
        &folder.run(["recover", "--fill", "--json", "bad.blp", "same.blp"]),
        3,
    );
    assert_eq!(said["filled"], 2048);
    let filled = [&plain[..1024], &[0; 2048], &plain[3072..]].concat();
    assert_eq!(folder.run(["d", "same.blp", "-"]).succeeded(), filled);

    let ran = folder.run(["-f", "recover", "bad.blp", "less.blp"]);
    assert_eq!(ran.status, 3);
    let text = ran.text();
    for words in [
        "damaged: chunk 1 (byte ",
        "lost: content 1024..",
        "recovered 2952 bytes from 3 chunks into 'less.blp', 2 chunks lost",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn the_common_cases_streams_cut_and_files_not_finished() {
    let folder = Folder::new();
    let stream = folder.run_with(["c", "-z", "1K"], ramp(5000)).succeeded();
    folder.write("cut", &stream[..stream.len() - 60]);
    let said = report(&folder.run(["recover", "--json", "cut", "a.blp"]), 3);
    assert_eq!(
        (&said["chunks"], &said["bytes"]),
        (&json!(4), &json!(4096)),
        "{said}"
    );
    assert_eq!(folder.run(["d", "a.blp", "-"]).succeeded(), ramp(4096));

    let (mut packed, chunks) = five(&folder);
    packed[32..72].fill(0xff);
    folder.write("unfinished", &packed[..chunks[3].start]);
    let said = report(&folder.run(["recover", "--json", "unfinished", "b.blp"]), 3);
    assert_eq!(
        (&said["chunks"], &said["content_bytes"]),
        (&json!(3), &json!(5000)),
        "{said}"
    );
    assert_eq!(
        said["lost"][0]["content"],
        json!({"start": 3072, "end": 5000})
    );
}

#[test]
fn an_interrupted_change_is_told() {
    let folder = Folder::new();
    let (mut packed, _) = five(&folder);
    packed[0] = b'!';
    folder.write("bad", &packed);
    let said = report(&folder.run(["recover", "--json", "bad", "good.blp"]), 3);
    assert_eq!(said["interrupted_change"], true);
    assert_eq!(said["complete"], false);
    assert_eq!(said["header_lost"], false);
    assert_eq!(folder.run(["d", "good.blp", "-"]).succeeded(), ramp(5000));
    let ran = folder.run(["-f", "recover", "bad", "good.blp"]);
    assert_eq!(ran.status, 3);
    for (words, are_there) in [
        ("a change to this file was interrupted", true),
        ("partly old and partly new", true),
        ("not a Bloscpack file", false),
        ("nothing lost", false),
    ] {
        assert_eq!(
            ran.text().contains(words),
            are_there,
            "{words}: {}",
            ran.text()
        );
    }
}

#[test]
fn without_checksums_damage_makes_all_doubtful() {
    let folder = Folder::new();
    let options = ["-z", "1K", "--max-app-chunks", "0", "-k", "None"];
    let mut packed = folder.compressed(&options, &ramp(5000));
    // A flipped bit in the table: every chunk still decodes.
    packed[40] ^= 1;
    folder.write("bad", &packed);
    let said = report(&folder.run(["recover", "--json", "bad", "good.blp"]), 3);
    assert_eq!(
        (&said["complete"], &said["unchecked"]),
        (&json!(false), &json!(true))
    );
    let ran = folder.run(["-f", "recover", "bad", "good.blp"]);
    assert_eq!(ran.status, 3);
    let words = "the file has no checksums, so recovered data may be wrong";
    assert!(ran.text().contains(words), "{}", ran.text());
    assert!(!ran.text().contains("nothing lost"), "{}", ran.text());
}

#[test]
fn a_second_member_without_its_magic_is_found() {
    let folder = Folder::new();
    let (packed, _) = five(&folder);
    folder.write("ab.blp", [&packed[..], &packed[1..]].concat());
    folder.run(["verify", "ab.blp"]).status_is(3);
    let said = report(&folder.run(["verify", "--json", "ab.blp"]), 3);
    let damage = &said["files"][0]["damages"][0];
    let bytes = json!({"start": packed.len(), "end": 2 * packed.len() - 1});
    assert_eq!(damage["bytes"], bytes, "{said}");
    folder.run(["recover", "ab.blp", "both.blp"]);
    let both = [ramp(5000), ramp(5000)].concat();
    assert_eq!(folder.run(["d", "both.blp", "-"]).succeeded(), both);
}

#[test]
fn a_sound_file_comes_out_as_it_is() {
    let folder = Folder::new();
    folder.write("meta.json", r#"{"a": 1}"#);
    let sound = folder.compressed_with_metadata("meta.json", &ramp(5000));
    folder.write("sound.blp", &sound);
    let said = report(
        &folder.run(["recover", "--json", "sound.blp", "again.blp"]),
        0,
    );
    assert_eq!(
        (&said["complete"], &said["damages"]),
        (&json!(true), &json!([]))
    );
    let info = folder.run(["info", "--json", "again.blp"]).succeeded();
    let info: Value = serde_json::from_slice(&info).unwrap();
    assert_eq!(info["metadata"], json!({"a": 1}));
    // To standard output, the report goes elsewhere.
    let ran = folder.run(["recover", "sound.blp", "-"]);
    assert_eq!(folder.run_with(["d"], ran.stdout).succeeded(), ramp(5000));
    assert!(ran.stderr.contains("nothing lost"), "{}", ran.stderr);
}

#[test]
fn nothing_found_means_no_output() {
    let folder = Folder::new();
    let (packed, chunks) = five(&folder);
    folder.write("noise", noise(5000));
    folder.write("gzip", [&[0x1f, 0x8b][..], &noise(500)].concat());
    folder.write("empty", "");
    folder.write("head", &packed[..chunks[0].start + 20]);
    folder.write("torn", &packed[..10]);
    for (name, status) in [
        ("noise", 5),
        ("gzip", 5),
        ("empty", 4),
        ("head", 4),
        ("torn", 4),
    ] {
        folder
            .run(["recover", name, "out.blp"])
            .failed(status, name);
        assert!(!folder.names().contains(&"out.blp".to_owned()), "{name}");
    }
    folder.write("sound.blp", &packed);
    folder
        .run(["recover", "-f", "sound.blp", "sound.blp"])
        .failed(2, "the same file");
    folder
        .run(["recover", "--json", "sound.blp", "-"])
        .failed(2, "standard output");
    folder
        .run(["recover", "-", "out.blp"])
        .failed(2, "regular file");
    folder
        .run(["recover", "sound.blp", "empty"])
        .failed(1, "exists");
}

#[test]
fn a_change_that_its_journal_completes_is_told() {
    let (folder, model) = interrupted();
    let said = report(&folder.run(["recover", "--json", "a.blp", "good.blp"]), 0);
    let expected = (&json!(true), &json!(true));
    assert_eq!((&said["interrupted_change"], &said["complete"]), expected);
    assert_eq!(folder.run(["d", "good.blp", "-"]).succeeded(), model);
}

#[test]
fn nothing_found_is_told_as_json() {
    let folder = Folder::new();
    folder.write("noise", noise(5000));
    folder.write("empty", "");
    for (name, status, code) in [
        ("noise", 5, "unknown-format"),
        ("empty", 4, "cut-short"),
        ("missing", 1, "io"),
    ] {
        let said = report(&folder.run(["recover", "--json", name, "out.blp"]), status);
        assert_eq!(
            (&said["path"], &said["complete"]),
            (&json!(name), &json!(false))
        );
        assert_eq!(said["code"], code);
        let error = said["error"].as_str().unwrap();
        assert!(error.contains(name), "{error}");
        assert!(!folder.names().contains(&"out.blp".to_owned()), "{name}");
    }
}

#[test]
fn a_wrong_entry_of_the_table_is_told() {
    let folder = Folder::new();
    let (packed, chunks) = five(&folder);
    // In addition to other damage.
    let mut both = packed.clone();
    both[32 + 8] ^= 1;
    both[chunks[3].start + 40] ^= 4;
    folder.write("bad.blp", &both);
    let said = report(&folder.run(["recover", "--json", "bad.blp", "good.blp"]), 3);
    assert_eq!(said["offsets_lost"], true, "{said}");
    assert_eq!(said["damages"].as_array().unwrap().len(), 2, "{said}");
    let said = report(&folder.run(["verify", "--json", "bad.blp"]), 3);
    let damages = said["files"][0]["damages"].as_array().unwrap();
    assert_eq!(damages.len(), 2, "{said}");
    for number in 0..5 {
        let mut bad = packed.clone();
        bad[32 + 8 * number] ^= 1;
        folder.write("bad.blp", &bad);
        let said = report(
            &folder.run(["recover", "-f", "--json", "bad.blp", "good.blp"]),
            0,
        );
        assert_eq!(said["offsets_lost"], true, "{number}: {said}");
        let message = said["damages"][0]["message"].as_str().unwrap();
        assert!(message.contains(&format!("entry {number}")), "{message}");
    }
}

#[test]
fn an_array_that_is_not_whole_is_none() {
    let folder = Folder::new();
    let shape = r#"{"dtype":"'<f8'","shape":[625],"order":"C","container":"numpy"}"#;
    folder.write("array.json", shape);
    let path = folder.path("array.json");
    let options = ["-z", "1K", "-m", path.to_str().unwrap()];
    let sound = folder.compressed(&options, &ramp(5000));
    folder.write("a.blp", &sound);
    let said = report(&folder.run(["recover", "--json", "a.blp", "same.blp"]), 0);
    assert_eq!(
        (&said["array_lost"], &said["error"]),
        (&json!(false), &Value::Null)
    );
    let metadata = |name: &str| -> Value {
        let info = folder.run(["info", "--json", name]).succeeded();
        serde_json::from_slice::<Value>(&info).unwrap()["metadata"].clone()
    };
    assert_eq!(metadata("same.blp")["shape"], json!([625]));

    let mut bad = sound;
    let end = bad.len();
    bad[end - 30] ^= 1;
    folder.write("a.blp", &bad);
    let ran = folder.run(["recover", "a.blp", "less.blp"]);
    assert_eq!(ran.status, 3);
    for words in ["lost: the metadata, because the NumPy array", "--fill"] {
        assert!(ran.text().contains(words), "{}", ran.text());
    }
    assert_eq!(metadata("less.blp"), Value::Null);
    let options = ["recover", "--fill", "--json", "a.blp", "filled.blp"];
    let said = report(&folder.run(options), 3);
    assert_eq!(
        (&said["array_lost"], &said["metadata_lost"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(metadata("filled.blp")["shape"], json!([625]));
}

#[test]
fn verify_names_each_damage_with_chunk_and_bytes() {
    let folder = Folder::new();
    let (mut packed, chunks) = five(&folder);
    // A chunk's length, which stops reading in order; and another chunk's body.
    packed[chunks[1].start + 12] ^= 0x55;
    packed[chunks[3].start + 40] ^= 4;
    folder.write("bad.blp", &packed);
    let said = report(&folder.run(["verify", "--json", "bad.blp"]), 3);
    let file = &said["files"][0];
    let damages = file["damages"].as_array().unwrap();
    assert_eq!(damages.len(), 2, "{said}");
    for (damage, number) in damages.iter().zip([1usize, 3]) {
        let bytes = json!({"start": chunks[number].start, "end": chunks[number].end});
        let content = json!({"start": 1024 * number, "end": 1024 * (number + 1)});
        assert_eq!(damage["chunk"], number, "{damage}");
        assert_eq!(damage["bytes"], bytes, "{damage}");
        assert_eq!(damage["content"], content, "{damage}");
    }
    assert_eq!(
        (&file["chunks"], &file["bytes"]),
        (&json!(5), &json!(5000 - 2048))
    );
}

/// Thirty records, and the position of each chunk, digest included.
fn thirty(packed: Option<u32>) -> (Vec<u8>, Vec<std::ops::Range<usize>>) {
    use bloscpack::records::RecordWriterBuilder;
    let builder = RecordWriter::builder().version(FormatVersion::V3);
    let builder = packed
        .into_iter()
        .fold(builder, RecordWriterBuilder::packed);
    let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    for number in 0..30 {
        writer.push(noise(10 + number)).unwrap();
    }
    let file = writer.finish().unwrap().into_inner();
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    let member = &survey.members[0];
    let mut starts: Vec<_> = (0..)
        .map_while(|number| member.offsets.get(number))
        .map(|offset| usize::try_from(offset).unwrap())
        .collect();
    starts.push(file.len());
    let chunks = starts.windows(2).map(|two| two[0]..two[1]).collect();
    (file, chunks)
}

#[test]
fn records_are_told_as_records() {
    for packed in [None, Some(200)] {
        let folder = Folder::new();
        let (mut file, chunks) = thirty(packed);
        folder.write("good.blp", &file);
        let text = folder.run(["verify", "good.blp"]).succeeded();
        let text = String::from_utf8(text).unwrap();
        let words = format!("ok, {} chunks, 30 records", chunks.len());
        assert!(text.contains(&words), "{text}");
        let ran = folder.run(["recover", "good.blp", "again.blp"]);
        assert_eq!(ran.status, 0, "{}", ran.text());
        let words = format!(
            "recovered 30 records from {} chunks into 'again.blp', nothing lost",
            chunks.len()
        );
        assert!(ran.text().contains(&words), "{}", ran.text());

        file[chunks[1].start + 20] ^= 4;
        folder.write("bad.blp", &file);
        let said = report(&folder.run(["verify", "--json", "bad.blp"]), 3);
        let damages = said["files"][0]["damages"].as_array().unwrap();
        assert_eq!(damages.len(), 1, "{said}");
        let lost = damages[0]["records"].clone();
        let from = lost["start"].as_u64().unwrap();
        let count = lost["end"].as_u64().unwrap() - from;
        assert_eq!(
            (from == 1, count == 1),
            (packed.is_none(), packed.is_none()),
            "{said}"
        );
        assert_eq!(said["files"][0]["records"], 30 - count, "{said}");
        let said = report(&folder.run(["recover", "--json", "bad.blp", "less.blp"]), 3);
        assert_eq!(said["lost"][0]["records"], lost, "{said}");
        assert_eq!(
            (&said["records"], &said["records_lost"]),
            (&json!(30 - count), &json!(count)),
            "{said}"
        );
        let ran = folder.run(["recover", "-f", "bad.blp", "less.blp"]);
        assert_eq!(ran.status, 3);
        let records = if count == 1 {
            "record 1".to_owned()
        } else {
            format!("records {from}..{}", from + count)
        };
        assert!(
            ran.text().contains(&format!("lost: {records}, now empty")),
            "{}",
            ran.text()
        );
        let file = std::fs::read(folder.path("less.blp")).unwrap();
        let reader = IndexedRecordReader::open(file).unwrap();
        for number in 0..30 {
            let is_lost = (from..from + count).contains(&number);
            let expected = if is_lost {
                Vec::new()
            } else {
                noise(10 + usize::try_from(number).unwrap())
            };
            assert_eq!(reader.get(number).unwrap(), expected, "{number}");
        }
    }
}
