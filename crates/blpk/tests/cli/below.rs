//! Tests of directories in which files, frames and datasets lie beside each other.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, Ran, ramp};

/// An array of five numbers.
const NPY: &[u8] =
    b"\x93NUMPY\x01\0\x3b\0{'descr': '<i2', 'fortran_order': False, 'shape': (5,)}   \n\
    \x01\0\x02\0\x03\0\x04\0\x05\0";

/// A backup folder: two Bloscpack files, records, a frame, a sparse frame, a dataset, and three other files.
fn backup() -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("backup/sub/deep")).unwrap();
    folder.write("backup/a.blp", folder.compressed(&[], &ramp(100_000)));
    folder.write(
        "backup/sub/deep/no-ending",
        folder.compressed(&[], &ramp(3000)),
    );
    folder.write("lines", "one\ntwo\n");
    folder
        .run(["records", "pack", "lines", "backup/lines.blp"])
        .succeeded();
    folder.write("in.npy", NPY);
    let frame = ["import", "in.npy", "backup/f.b2nd", "--layout", "b2nd"];
    folder.run(frame).succeeded();
    let sparse = [
        "import",
        "in.npy",
        "backup/sub/sparse",
        "--layout",
        "b2nd",
        "--sparse",
    ];
    folder.run(sparse).succeeded();
    folder
        .run(["import", "in.npy", "backup/sub/array"])
        .succeeded();
    for other in [
        "backup/readme.txt",
        "backup/sub/deep/notes",
        "backup/._a.blp",
    ] {
        folder.write(other, "some text");
    }
    folder
}

const FOUND: [&str; 6] = [
    "backup/a.blp",
    "backup/f.b2nd",
    "backup/lines.blp",
    "backup/sub/array",
    "backup/sub/deep/no-ending",
    "backup/sub/sparse",
];

fn lines(ran: Ran) -> Vec<String> {
    let text = String::from_utf8(ran.noted("'backup': 3 files of other kinds were skipped"));
    text.unwrap().lines().map(str::to_owned).collect()
}

fn flip(folder: &Folder, name: &str, from_end: usize) {
    let mut bytes = folder.read(name);
    let at = bytes.len() - from_end;
    bytes[at] ^= 0x10;
    folder.write(name, bytes);
}

#[test]
fn verify_checks_everything_below_a_directory() {
    let folder = backup();
    let text = lines(folder.run(["verify", "backup"]));
    let names: Vec<_> = text
        .iter()
        .map(|line| line.split(": ok, ").next().unwrap())
        .collect();
    assert_eq!(names, FOUND);
    let ran = folder.run(["verify", "--json", "backup"]);
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(report["others"], 3);
    assert_eq!(report["files"].as_array().unwrap().len(), FOUND.len());
}

#[test]
fn a_damaged_file_beside_a_dataset_is_found() {
    for (name, from_end, status) in [
        ("backup/a.blp", 20, 3),
        ("backup/lines.blp", 20, 3),
        ("backup/sub/deep/no-ending", 20, 3),
    ] {
        let folder = backup();
        flip(&folder, name, from_end);
        let ran = folder.run(["verify", "backup"]).status_is(status);
        let text = ran.text_lossy();
        let damaged = format!("{name}: damaged: ");
        assert!(text.contains(&damaged), "{text}");
        assert_eq!(text.matches(": ok, ").count(), FOUND.len() - 1, "{text}");
    }
    // Known by its name, though its beginning is gone.
    let folder = backup();
    let len = folder.read("backup/a.blp").len();
    flip(&folder, "backup/a.blp", len);
    let ran = folder.run(["verify", "backup"]).status_is(5);
    assert!(
        ran.text_lossy().contains("backup/a.blp: refused: "),
        "{ran:?}"
    );
    folder.write("backup/a.blp", "");
    let ran = folder.run(["verify", "backup"]).status_is(4);
    assert!(
        ran.text_lossy().contains("backup/a.blp: incomplete: "),
        "{ran:?}"
    );
}

#[test]
fn ls_lists_everything_below_a_directory() {
    let folder = backup();
    let text = lines(folder.run(["ls", "backup"]));
    let names: Vec<_> = text
        .iter()
        .map(|line| line.split("  ").next().unwrap())
        .collect();
    assert_eq!(names, FOUND);
    assert_eq!(text[0], "backup/a.blp  bloscpack  97.66K (100000B)");
    assert_eq!(text[1], "backup/f.b2nd  frame  b2nd  int16  (5,)  10B");
    assert_eq!(text[2], "backup/lines.blp  records");
    assert_eq!(text[3], "backup/sub/array  carray  bcolz  int16  (5,)  10B");
    assert!(text[4].starts_with("backup/sub/deep/no-ending  bloscpack  "));
    let ran = folder.run(["ls", "--json", "backup"]);
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(report["others"], 3);
    assert_eq!(report["datasets"][0]["kind"], "bloscpack");
    assert_eq!(
        folder.run(["-q", "ls", "backup"]).succeeded().len(),
        text.concat().len() + 6
    );
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;

    let folder = backup();
    // The superuser may read everything.
    let mode = |bits| {
        fs::set_permissions(
            folder.path("backup/sub/deep"),
            fs::Permissions::from_mode(bits),
        )
    };
    mode(0o000).unwrap();
    let is_hidden = fs::read_dir(folder.path("backup/sub/deep")).is_err();
    let ran = folder.run(["verify", "backup"]);
    mode(0o755).unwrap();
    if is_hidden {
        ran.failed(1, "'backup/sub/deep'");
    }
}
