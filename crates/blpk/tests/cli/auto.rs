//! Tests of settings chosen by a sample: `compress --auto` and `info --auto`.

use serde_json::Value;

use crate::support::{Folder, chunk_headers, fields, noise, ramp};

/// Samples of a slow wave: two bytes each, little-endian.
fn samples(count: u32) -> Vec<u8> {
    let last_digits = noise(usize::try_from(count).unwrap());
    let numbers = (0..count).zip(last_digits);
    let numbers = numbers.map(|(n, noise)| 1000 + n / 64 % 500 + u32::from(noise % 7));
    numbers
        .flat_map(|n| u16::try_from(n).unwrap().to_le_bytes())
        .collect()
}

/// The text for people of a run with `-v`.
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
    let told = told(&folder, &["c", "-v"], &plain);
    assert!(!told.contains("chosen"), "{told}");
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
            text.contains("the file has     lz4, filter byte, typesize 1"),
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
