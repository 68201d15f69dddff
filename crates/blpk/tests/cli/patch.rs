//! Tests of `blpk patch`, which overwrites bytes of a file's content.

use crate::support::{Folder, fields, noise, ramp};

fn with_file(options: &[&str], plain: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.write("a.blp", folder.compressed(options, plain));
    folder
}

#[track_caller]
fn holds(folder: &Folder, model: &[u8]) {
    folder.run(["verify", "a.blp"]).succeeded();
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), model);
}

#[test]
fn bytes_are_overwritten_wherever_they_lie() {
    for options in [
        &[][..],
        &["-o"],
        &["--format", "2"],
        &["--format", "1"],
        &["-c", "zlib"],
    ] {
        let options = [options, &["-z", "1K"]].concat();
        let mut model = ramp(10_000);
        let folder = with_file(&options, &model);
        for (at, len) in [(0, 1), (1000, 100), (9_999, 1), (2048, 1024), (5, 9_000)] {
            let new = noise(len);
            folder
                .run_with(["patch", "a.blp", "--at", &at.to_string()], &new)
                .succeeded();
            model[at..at + len].copy_from_slice(&new);
            holds(&folder, &model);
        }
        assert_eq!(folder.names(), ["a.blp"]);
    }
}

#[test]
fn the_new_bytes_come_from_a_file_too_and_sizes_have_units() {
    let folder = with_file(&[], &ramp(3_000_000));
    folder.write("new", "new bytes");
    folder
        .run(["patch", "--at", "1.5M", "a.blp", "new"])
        .succeeded();
    let mut model = ramp(3_000_000);
    model[1_572_864..1_572_873].copy_from_slice(b"new bytes");
    holds(&folder, &model);
    let ran = folder.run(["-v", "patch", "--at", "2M", "a.blp", "new"]);
    let told = "'new', 9B, written to 'a.blp' at byte 2097152, in ";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn only_the_chunks_that_are_touched_change() {
    let folder = with_file(&["-z", "1K"], &noise(10_000));
    let before = folder.read("a.blp");
    folder
        .run_with(["patch", "a.blp", "--at", "3000"], "x")
        .succeeded();
    let after = folder.read("a.blp");
    assert_eq!(before.len(), after.len());
    let differing = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    // One byte of an incompressible chunk, and its digest.
    assert!((2..=5).contains(&differing), "{differing}");
    assert_eq!(fields(&before), fields(&after));
}

#[test]
fn nothing_reaches_behind_the_end() {
    let folder = with_file(&["-z", "1K"], &ramp(3000));
    let before = folder.read("a.blp");
    for (at, new) in [
        ("2999", "xy"),
        ("3000", "x"),
        ("3001", ""),
        ("3001", "x"),
        ("1T", "x"),
    ] {
        let ran = folder.run_with(["patch", "a.blp", "--at", at], new);
        let ran = ran.failed(2, "past the end of the content (3000 bytes)");
        assert!(
            ran.stderr.contains("'a.blp' is unchanged"),
            "{}",
            ran.stderr
        );
        assert_eq!(folder.read("a.blp"), before);
    }
    folder.run(["patch", "a.blp", "--at", "3000"]).succeeded();
    folder
        .run_with(["patch", "a.blp", "--at", "2999"], "x")
        .succeeded();
    assert_eq!(folder.names(), ["a.blp"]);
}

#[test]
fn mistakes_of_the_user() {
    let folder = with_file(&[], &ramp(3000));
    folder.write("new", "new");
    folder.run(["patch", "a.blp", "new"]).failed(2, "--at");
    folder
        .run(["patch", "--at", "-1", "a.blp", "new"])
        .failed(2, "'-1' is not a size");
    for fraction in ["1.5", "1.9", "0.3", "5."] {
        folder
            .run(["patch", "--at", fraction, "a.blp", "new"])
            .failed(2, "no unit");
    }
    folder
        .run(["patch", "--at", "0.3K", "a.blp", "new"])
        .failed(2, "not a whole number of bytes");
    folder
        .run(["patch", "--at", "x", "a.blp", "new"])
        .failed(2, "not a size");
    folder
        .run(["patch", "--at", "0", "none.blp", "new"])
        .failed(1, "'none.blp'");
    folder
        .run(["patch", "--at", "0", "a.blp", "none"])
        .failed(1, "'none'");
    folder
        .run(["patch", "--at", "0", "new", "a.blp"])
        .failed(5, "'new'");
    folder
        .run(["patch", "--at", "0", "-", "new"])
        .failed(2, "name a file");
    assert_eq!(folder.run(["cat", "a.blp"]).succeeded(), ramp(3000));
}

#[test]
fn a_damaged_chunk_is_overwritten_as_a_whole() {
    let folder = with_file(&["-z", "1K"], &noise(3000));
    let mut bytes = folder.read("a.blp");
    let at = bytes.len() - 2000;
    bytes[at] ^= 1;
    folder.write("a.blp", bytes);
    folder
        .run_with(["patch", "a.blp", "--at", "1500"], "x")
        .failed(3, "chunk 1");
    folder
        .run_with(["patch", "a.blp", "--at", "1024"], &noise(3000)[1024..2048])
        .succeeded();
    holds(&folder, &noise(3000));
}
