//! The command `blpk` writes to a bucket: what it makes there is what it makes on the disk.

use crate::command::{program, run};
use crate::servers;
use std::path::Path;

/// Runs the command, and returns its status and messages.
fn call(
    program: &Path,
    folder: &Path,
    environment: &[(&str, &str)],
    args: &[&str],
) -> (i32, String) {
    let output = run(program, folder, environment, args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{args:?}: {text}");
    (output.status.code().unwrap_or(-1), text)
}

/// All files below a folder, with their bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in next.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                found.push((name, std::fs::read(path).unwrap()));
            }
        }
    }
    // The server keeps notes beside the objects.
    found.retain(|(name, _)| !name.split('/').any(|part| part.starts_with('.')));
    found.sort();
    found
}

fn prepare() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["bucket", "disk", "disk/dir"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let testdata = testkit::testdata("");
    for (from, to) in [
        ("datasets/bcolz/table_mixed", "table"),
        ("datasets/bcolz/py2_int64", "array"),
    ] {
        testkit::datasets::copy(&testdata.join(from), &folder.path().join(to));
    }
    let lines: String = (0..20_000)
        .map(|line| format!("{line},{}\n", line * 7))
        .collect();
    std::fs::write(folder.path().join("plain.csv"), format!("a,b\n{lines}")).unwrap();
    let mut random = testkit::golden::Random::new(3);
    let noise: Vec<u8> = std::iter::repeat_with(|| random.next() as u8)
        .take(20 << 20)
        .collect();
    std::fs::write(folder.path().join("noise.bin"), noise).unwrap();
    folder
}

const MADE: [&[&str]; 12] = [
    &["compress", "plain.csv", "{}/plain.blp"],
    &[
        "compress",
        "-t",
        "1",
        "-c",
        "lz4",
        "noise.bin",
        "{}/dir/noise.blp",
    ],
    &["compress", "plain.csv", "-O", "{}/named.blp"],
    &["records", "pack", "--packed", "plain.csv", "{}/records.blp"],
    &["decompress", "disk/plain.blp", "{}/plain.csv"],
    &["export", "table", "{}/table.csv"],
    &["export", "array", "{}/array.npy"],
    &["convert", "array", "{}/array"],
    &["convert", "--layout", "blz", "table", "{}/table"],
    &["convert", "array", "{}/array.b2nd"],
    &[
        "convert",
        "--layout",
        "b2nd",
        "--sparse",
        "array",
        "{}/sparse",
    ],
    &["import", "plain.csv", "{}/imported"],
];

#[test]
fn with_s3() {
    let Some(program) = program() else { return };
    let folder = prepare();
    let at = folder.path();
    let endpoint = servers::s3(at);
    let environment = [
        ("AWS_ACCESS_KEY_ID", servers::KEY),
        ("AWS_SECRET_ACCESS_KEY", servers::SECRET),
        ("AWS_ENDPOINT", &endpoint),
        ("AWS_ALLOW_HTTP", "true"),
    ];
    let with = |args: &[&str], base: &str| -> Vec<String> {
        args.iter().map(|arg| arg.replace("{}", base)).collect()
    };
    for args in MADE {
        for base in ["disk", "s3://bucket"] {
            let args = with(args, base);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (status, text) = call(&program, at, &environment, &args);
            assert_eq!(status, 0, "{args:?}: {text}");
        }
        // Nothing is replaced unless that is asked for, and a dataset never.
        let args = with(args, "s3://bucket");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (status, text) = call(&program, at, &environment, &args);
        assert!(
            status != 0 && text.contains("s3://bucket/"),
            "{args:?}: {text}"
        );
        let is_object = args.last().is_some_and(|out| out.contains("."));
        let forced: Vec<&str> = [args.as_slice(), &["-f"]].concat();
        let (status, text) = call(&program, at, &environment, &forced);
        assert_eq!(status == 0, is_object, "{forced:?}: {text}");
        assert!(is_object || text.contains("choose another URL"), "{text}");
    }
    let (made, expected) = (files(&at.join("bucket")), files(&at.join("disk")));
    let names = |files: &[(String, Vec<u8>)]| {
        files
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&made), names(&expected));
    for ((name, made), (_, expected)) in made.iter().zip(&expected) {
        assert!(made == expected, "{name}");
    }
    changes(&program, at, &environment);
}

/// Changes in a bucket that are made, and those that are refused with a reason.
fn changes(program: &Path, at: &Path, environment: &[(&str, &str)]) {
    for base in ["disk", "s3://bucket"] {
        let array = format!("{base}/array");
        let args = ["dataset", "append", &array, "disk/array.npy"];
        let (status, text) = call(program, at, environment, &args);
        assert_eq!(status, 0, "{args:?}: {text}");
    }
    let [made, expected] = ["bucket/array", "disk/array"].map(|folder| files(&at.join(folder)));
    assert!(made == expected);
    for (args, part) in [
        (
            vec!["append", "s3://bucket/plain.blp", "plain.csv"],
            "only written whole",
        ),
        (
            vec!["patch", "--at", "0", "s3://bucket/plain.blp", "plain.csv"],
            "only written whole",
        ),
        (
            vec!["reindex", "s3://bucket/plain.blp"],
            "only written whole",
        ),
        (
            vec!["records", "append", "s3://bucket/records.blp", "plain.csv"],
            "only written whole",
        ),
        (
            vec!["cat", "--follow", "s3://bucket/plain.blp"],
            "cannot be followed",
        ),
        (
            vec![
                "records",
                "unpack",
                "--follow",
                "s3://bucket/records.blp",
                "-",
            ],
            "cannot be followed",
        ),
        (
            vec!["dataset", "trim", "s3://bucket/array", "5"],
            "under another URL",
        ),
        (
            vec!["dataset", "append", "s3://bucket/imported", "plain.csv"],
            "under another URL",
        ),
        (
            vec!["compress", "plain.csv", "https://127.0.0.1:9/x.blp"],
            "https://127.0.0.1:9",
        ),
        (
            vec!["compress", "plain.csv", "s3://bucket/"],
            "add the name of the object",
        ),
        (
            vec!["import", "plain.csv", "https://me:pw@127.0.0.1:9/x"],
            "a web server takes no objects",
        ),
        (
            vec!["compress", "plain.csv", "s4://bucket/x.blp"],
            "is s3:// meant?",
        ),
        (
            vec!["compress", "-f", "plain.csv", "s3://bucket/plain.csv"],
            "is not a compressed file",
        ),
    ] {
        let (status, text) = call(program, at, environment, &args);
        assert!(status != 0 && text.contains(part), "{args:?}: {text}");
        assert!(
            !text.contains(servers::SECRET) && !text.contains("me:pw"),
            "{text}"
        );
    }
}
