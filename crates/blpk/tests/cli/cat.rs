//! Tests of `blpk cat`: everything, a range, a chunk.

use crate::support::{Folder, ramp};

const LEN: usize = 5000;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("data.blp", folder.compressed(&["-z", "1K"], &ramp(LEN)));
    folder
}

#[test]
fn everything() {
    let folder = folder();
    assert_eq!(folder.run(["cat", "data.blp"]).succeeded(), ramp(LEN));
    let packed = folder.read("data.blp");
    assert_eq!(folder.run_with(["cat"], packed).succeeded(), ramp(LEN));
}

#[test]
fn ranges() {
    let folder = folder();
    let plain = ramp(LEN);
    let ranges = [
        ("0..5000", 0..LEN),
        ("0..0", 0..0),
        ("0..1", 0..1),
        ("1023..1025", 1023..1025),
        ("1K..2K", 1024..2048),
        ("700..4900", 700..4900),
        ("4999..5000", 4999..5000),
        ("5000..5000", LEN..LEN),
        ("4000..", 4000..LEN),
        ("..10", 0..10),
        ("..", 0..LEN),
        ("5000..", LEN..LEN),
    ];
    for (text, range) in ranges {
        let bytes = folder.run(["cat", "--range", text, "data.blp"]).succeeded();
        assert_eq!(bytes, &plain[range], "{text}");
    }
}

#[test]
fn a_range_past_the_end_is_wrong_usage() {
    let folder = folder();
    let ran = folder.run(["cat", "--range", "4990..5001", "data.blp"]);
    let ran = ran.failed(2, "4990..5001 extends past the end");
    assert_eq!(ran.stdout, &ramp(LEN)[4990..]);
    folder
        .run(["cat", "--range", "6000..6001", "data.blp"])
        .failed(2, "past the end");
}

#[test]
fn chunks() {
    let folder = folder();
    let plain = ramp(LEN);
    for number in 0..5 {
        let bytes = folder
            .run(["cat", "--chunk", &number.to_string(), "data.blp"])
            .succeeded();
        let start = number * 1024;
        assert_eq!(
            bytes,
            &plain[start..LEN.min(start + 1024)],
            "chunk {number}"
        );
    }
    folder
        .run(["cat", "--chunk", "5", "data.blp"])
        .failed(2, "there is no chunk 5");
}

#[test]
fn ranges_and_chunks_count_across_members() {
    let folder = folder();
    let two = folder.compressed(&["-z", "100"], &[7; 250]);
    folder.write("both.blp", [folder.read("data.blp"), two].concat());
    let plain = [ramp(LEN), vec![7; 250]].concat();
    let bytes = folder
        .run(["cat", "--range", "4995..5110", "both.blp"])
        .succeeded();
    assert_eq!(bytes, &plain[4995..5110]);
    let chunk = |number: &str| folder.run(["cat", "--chunk", number, "both.blp"]);
    assert_eq!(chunk("4").succeeded(), &plain[4096..LEN]);
    assert_eq!(chunk("5").succeeded(), [7; 100]);
    assert_eq!(chunk("7").succeeded(), [7; 50]);
    chunk("8").failed(2, "there is no chunk 8");
}

#[test]
fn chunks_of_an_unfinished_length() {
    let folder = Folder::new();
    folder.write(
        "stream",
        folder.run_with(["c", "-z", "1K"], ramp(LEN)).succeeded(),
    );
    let bytes = folder.run(["cat", "--chunk", "4", "stream"]).succeeded();
    assert_eq!(bytes, &ramp(LEN)[4096..]);
    let piped = folder.run_with(["cat", "--chunk", "4"], folder.read("stream"));
    piped.failed(2, "needs a regular file");
}

#[test]
fn damage_elsewhere_does_not_matter() {
    let folder = folder();
    let mut packed = folder.read("data.blp");
    let at = packed.len() - 10;
    packed[at] ^= 1;
    folder.write("bad.blp", packed);
    let bytes = folder
        .run(["cat", "--range", "0..2000", "bad.blp"])
        .succeeded();
    assert_eq!(bytes, &ramp(LEN)[..2000]);
    folder
        .run(["cat", "--chunk", "4", "bad.blp"])
        .failed(3, "chunk 4");
    // Data before the damage is delivered.
    let ran = folder.run(["cat", "bad.blp"]).failed(3, "chunk 4");
    assert_eq!(ran.stdout, &ramp(LEN)[..4096]);
}
