//! Tests of settings chosen by a sample: `compress --auto` and `info --auto`.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::datasets_exchanged::npy;
use crate::support::{BLPK, Folder, Ran, chunk_headers, fields, noise, ramp};

/// Samples of a slow wave: two bytes each, little-endian.
fn samples(count: u32) -> Vec<u8> {
    let last_digits = noise(usize::try_from(count).unwrap());
    let numbers = (0..count).zip(last_digits);
    let numbers = numbers.map(|(n, noise)| 1000 + n / 64 % 500 + u32::from(noise % 7));
    numbers
        .flat_map(|n| u16::try_from(n).unwrap().to_le_bytes())
        .collect()
}

/// The human-readable text of a run with `-v`.
fn told(folder: &Folder, args: &[&str], input: &[u8]) -> String {
    let ran = folder.run_with(args, input);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.stderr
}

#[test]
fn the_typesize_is_found_and_the_content_comes_back() {
    let folder = Folder::new();
    for (plain, typesize) in [(ramp(3_000_000), 8), (samples(700_000), 2)] {
        for auto in ["--auto", "--auto=speed", "--auto=BALANCE"] {
            let packed = folder.compressed(&[auto], &plain);
            assert_eq!(fields(&packed).typesize, typesize, "{auto}");
            assert!(packed.len() < plain.len() / 2);
            for header in chunk_headers(&packed, 4) {
                assert_eq!(header[3], typesize);
            }
            assert_eq!(folder.run_with(["d"], &packed).succeeded(), plain);
            let stream = folder.run_with(["c", auto], &plain).succeeded();
            assert_eq!(fields(&stream).typesize, typesize, "{auto}");
            assert_eq!(folder.run_with(["d"], &stream).succeeded(), plain);
        }
    }
}

#[test]
fn size_is_smaller_than_speed() {
    let folder = Folder::new();
    let plain = samples(300_000);
    let [speed, size] =
        ["--auto=speed", "--auto=size"].map(|auto| folder.compressed(&[auto], &plain));
    assert!(
        size.len() < speed.len() * 19 / 20,
        "{} {}",
        size.len(),
        speed.len()
    );
    assert_eq!(folder.run_with(["d"], &size).succeeded(), plain);
}

#[test]
fn a_file_name_behind_auto_is_a_file_name() {
    let folder = Folder::new();
    folder.write("speed", ramp(5000));
    folder.run(["c", "--auto", "speed"]).succeeded();
    assert_eq!(folder.names(), ["speed", "speed.blp"]);
    folder.run(["c", "--auto=fast", "speed"]).failed(2, "fast");
}

#[test]
fn what_is_given_stays() {
    let folder = Folder::new();
    let plain = ramp(400_000);
    let given = ["--auto", "-t", "4", "-c", "zlib", "-s"];
    let stream = folder
        .run_with([&["c"], &given[..]].concat(), &plain)
        .succeeded();
    for packed in [folder.compressed(&given, &plain), stream] {
        assert_eq!(fields(&packed).typesize, 4);
        let info = folder.run_with(["info", "--json"], packed);
        let info: Value = serde_json::from_slice(&info.succeeded()).unwrap();
        assert_eq!(info["codecs"], serde_json::json!(["zlib"]));
        assert_eq!(info["filters"], serde_json::json!(["none"]));
    }
    let stored = folder.compressed(&["--auto=size", "-l", "0"], &plain);
    assert!(stored.len() > plain.len());
}

#[test]
fn the_same_input_gives_the_same_file() {
    let folder = Folder::new();
    let plain = [samples(300_000), noise(600_000), ramp(1_000_000)].concat();
    let one = folder.compressed(&["--auto", "-n", "1"], &plain);
    assert_eq!(folder.compressed(&["--auto", "-n", "3"], &plain), one);
    let one = folder
        .run_with(["c", "--auto", "-n", "1"], &plain)
        .succeeded();
    assert_eq!(
        folder
            .run_with(["c", "--auto", "-n", "3"], &plain)
            .succeeded(),
        one
    );
}

#[test]
fn a_file_is_sampled_all_over_and_a_pipe_at_its_beginning() {
    let folder = Folder::new();
    let plain = [noise(1 << 20), ramp(6 << 20)].concat();
    assert_eq!(fields(&folder.compressed(&["--auto"], &plain)).typesize, 8);
    let stream = folder.run_with(["c", "--auto"], &plain).succeeded();
    assert_eq!(folder.run_with(["d"], &stream).succeeded(), plain);
}

#[test]
fn verbose_says_what_was_chosen_and_why() {
    let folder = Folder::new();
    let plain = ramp(400_000);
    folder.write("data", &plain);
    for (args, input) in [
        (&["c", "-v", "--auto=speed", "data"][..], &[][..]),
        (&["c", "-v", "--auto=speed"], &plain),
    ] {
        let told = told(&folder, args, input);
        assert!(
            told.contains("typesize 8: chosen for speed from "),
            "{told}"
        );
        assert!(told.contains(" s/GB"), "{told}");
    }
    for given in ["--auto=off", "--level=9", "-t8", "-s", "-cblosclz"] {
        let told = told(&folder, &["c", "-v", given], &plain);
        assert!(!told.contains("chosen"), "{given}: {told}");
    }
}

#[test]
fn settings_are_chosen_where_none_is_given() {
    let folder = Folder::new();
    let text = "GET /index.html 200 a short line of a log\n".repeat(20_000);
    for plain in [samples(500_000), text.clone().into_bytes(), noise(300_000)] {
        let chosen = folder.compressed(&["--auto=balance"], &plain);
        assert_eq!(folder.compressed(&[], &plain), chosen);
        // Options that do not change how a chunk is compressed leave the choice alone.
        assert_eq!(
            folder.compressed(&["-k", "md5"], &plain),
            folder.compressed(&["-k", "md5", "--auto"], &plain)
        );
        let stream = folder.run_with(["c"], &plain).succeeded();
        let auto = folder.run_with(["c", "--auto"], &plain).succeeded();
        assert_eq!(stream, auto);
        // Any setting of chunks keeps the defaults of the others.
        let off = folder.compressed(&["--auto=off"], &plain);
        for given in [
            &["-t", "8"][..],
            &["-c", "lz4"],
            &["-l", "9"],
            &["-9"],
            &["--shuffle", "byte"],
            &["-t", "8", "-l", "9", "-c", "lz4", "--shuffle", "byte"],
        ] {
            assert_eq!(folder.compressed(given, &plain), off, "{given:?}");
        }
    }
    let (off, chosen) = (["--auto=off"], []);
    let [off, chosen] = [&off[..], &chosen].map(|args| folder.compressed(args, text.as_bytes()));
    assert!(chosen.len() < off.len(), "{} {}", chosen.len(), off.len());
}

/// The bytes that earlier releases wrote for this file, by their digest.
#[test]
fn without_a_choice_the_bytes_are_those_of_earlier_releases() {
    let folder = Folder::new();
    let plain = [ramp(1_500_000), samples(300_000), noise(70_001)].concat();
    let digest = |packed: Vec<u8>| {
        let digest = Sha256::digest(packed);
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    // They had room for 64 more offsets at least.
    let room = ["--max-app-chunks", "64"];
    for choice in [&["--auto=off"][..], &["-t", "8"]] {
        let packed = folder.compressed(&[choice, &room].concat(), &plain);
        assert_eq!(digest(packed), BEFORE, "{choice:?}");
    }
    let stream = folder.run_with(["c", "--auto=off"], &plain).succeeded();
    assert_eq!(digest(stream), STREAM_BEFORE);
    let flushed = ["c", "--flush-every", "100K"];
    let flushed = folder.run_with(flushed, &plain).succeeded();
    assert_eq!(digest(flushed), FLUSHED_BEFORE);
}

const BEFORE: &str = "b419492a18b7f48bcb1e8e85faf00b4a35052fe59f4efdd203837d3f6b965928";
const STREAM_BEFORE: &str = "fc39e43e32a6325473789e400fb60664b05cd9d8075faa92268a0d3db3b09856";
const FLUSHED_BEFORE: &str = "0b4e76eb97cdf8f4678658fcdb3c791a17c3dfe83a7b3adda6d131b64c62fb9b";

#[test]
fn the_header_of_a_npy_file_states_the_typesize() {
    let folder = Folder::new();
    // Two columns of alternating samples look like elements of four bytes; the header knows better.
    let pairs: Vec<u8> = (0..200_000_u32)
        .flat_map(|n| [n / 50 % 999, 60_000 - n / 80 % 77])
        .flat_map(|n| u16::try_from(n).unwrap().to_le_bytes())
        .collect();
    let file = npy("'<u2'", "(400000,)", &pairs);
    for packed in [
        folder.compressed(&[], &file),
        folder.compressed(&["--auto=speed"], &file),
        folder.run_with(["c"], &file).succeeded(),
    ] {
        assert_eq!(fields(&packed).typesize, 2);
        assert_eq!(folder.run_with(["d"], &packed).succeeded(), file);
    }
    assert_eq!(
        fields(&folder.compressed(&["-c", "lz4"], &file)).typesize,
        8
    );
    // Elements that are not numbers, or a header that is cut, leave it to the sample.
    for file in [
        npy("'|S400'", "(2000,)", &pairs),
        npy("[('a', '<u2'), ('b', '<u2')]", "(200000,)", &pairs),
        file[..100].to_vec(),
    ] {
        let packed = folder.compressed(&[], &file);
        assert_eq!(folder.run_with(["d"], &packed).succeeded(), file);
    }
}

#[test]
fn a_pipe_in_pieces_gives_the_same_bytes() {
    let folder = Folder::new();
    let plain = [samples(300_000), ramp(2_000_000)].concat();
    let whole = folder.run_with(["c"], &plain).succeeded();
    folder.write("plain", &plain);
    for (piece, threads) in [("1000", "1"), ("70001", "2")] {
        let line = format!("dd if=plain bs={piece} status=none | {BLPK} c -n {threads}");
        let ran = std::process::Command::new("sh")
            .args(["-c", &line])
            .current_dir(folder.path(""))
            .output();
        assert_eq!(Ran::from(ran.unwrap()).succeeded(), whole);
    }
}

#[test]
fn nothing_gained_is_said_with_v_and_never_with_q() {
    let folder = Folder::new();
    folder.write("noise", noise(100_000));
    folder.write("ramp", ramp(100_000));
    let run = |args: &[&str]| folder.run([&["c", "-f"], args].concat());
    // Scripts, whose standard error is not a terminal, find nothing there.
    run(&["noise"]).succeeded();
    let said = run(&["-v", "noise"]).stderr;
    assert!(said.contains("'noise.blp' is not smaller than its input"));
    assert!(said.contains("compressed already"), "{said}");
    let said = run(&["-v", "-t8", "noise"]).stderr;
    assert!(said.contains("--auto may find better settings"), "{said}");
    for quiet in [&["-v", "-l0", "noise"][..], &["-v", "ramp"]] {
        let said = run(quiet).stderr;
        assert!(!said.contains("not smaller"), "{said}");
    }
}

#[test]
fn little_is_no_trouble() {
    let folder = Folder::new();
    for plain in [ramp(0), ramp(1), ramp(200)] {
        for auto in ["--auto", "--auto=size"] {
            let packed = folder.compressed(&[auto], &plain);
            assert_eq!(folder.run_with(["d"], packed).succeeded(), plain);
            let stream = folder.run_with(["c", auto], &plain).succeeded();
            assert_eq!(folder.run_with(["d"], stream).succeeded(), plain);
        }
    }
}

#[test]
fn info_explains_the_choice_for_plain_and_packed_files() {
    let folder = Folder::new();
    folder.write("data", samples(600_000));
    folder
        .run(["c", "-t", "1", "-z", "100K", "data", "data.blp"])
        .succeeded();
    for (path, kind) in [("data", "plain"), ("data.blp", "bloscpack")] {
        let info = folder.run(["info", "--json", "--auto", path]).succeeded();
        let info: Value = serde_json::from_slice(&info).unwrap();
        assert_eq!(info["kind"], kind);
        let auto = &info["auto"];
        assert_eq!(
            (&auto["aim"], &auto["chosen"]["typesize"]),
            (&"balance".into(), &2.into())
        );
        assert_eq!(auto["chosen"], auto["trials"][0]);
        let scores = auto["trials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|trial| trial["score"].as_f64());
        let scores: Vec<f64> = scores.map(Option::unwrap).collect();
        assert!(scores.len() > 5 && scores.is_sorted(), "{scores:?}");

        let text = folder.run(["info", "--auto=speed", path]).succeeded();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("chosen for speed"), "{text}");
        assert_eq!(
            text.contains("the file has:        lz4, filter byte, typesize 1"),
            kind == "bloscpack",
            "{text}"
        );
        assert!(text.contains("decompress    s/GB\n"), "{text}");
    }
    // Nothing of it without being asked.
    let info: Value =
        serde_json::from_slice(&folder.run(["info", "--json", "data.blp"]).succeeded()).unwrap();
    assert!(info["auto"].is_null());
    folder
        .run(["info", "data"])
        .failed(5, "not a Bloscpack file");
}

#[test]
fn info_chooses_what_compress_chooses() {
    let folder = Folder::new();
    let plain = [samples(900_000), ramp(1_500_000)].concat();
    folder.write("data", &plain);
    let told = told(&folder, &["c", "-v", "--auto", "data"], &[]);
    for path in ["data", "data.blp"] {
        let info = folder.run(["info", "--json", "--auto", path]).succeeded();
        let info: Value = serde_json::from_slice(&info).unwrap();
        assert!(
            told.contains(info["auto"]["reason"].as_str().unwrap()),
            "{told}"
        );
    }
}

#[test]
fn info_refuses_to_choose_where_there_is_no_content() {
    let folder = Folder::new();
    folder
        .run_with(["records", "pack", "-", "lines"], "one\ntwo\n")
        .succeeded();
    folder.run(["info", "--auto", "lines"]).failed(2, "records");
    folder.run(["info", "--auto", "."]).failed(2, "directories");
    folder
        .run_with(["info", "--auto"], ramp(5000))
        .failed(2, "a pipe");
    // Damaged input fails with and without `--auto`.
    let packed = folder.compressed(&[], &ramp(50_000));
    folder.write("cut", &packed[..packed.len() / 2]);
    assert_ne!(folder.run(["info", "--auto", "cut"]).status, 0);
    folder.write("empty", []);
    folder.run(["info", "--auto", "empty"]).succeeded();
}
