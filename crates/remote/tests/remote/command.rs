//! The command `blpk`, run against both servers. `BLPK` names the program, which has to be built with the feature `remote`.

use crate::servers;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, if there is one; without it, that is noted.
pub fn program() -> Option<PathBuf> {
    let program = std::env::var_os("BLPK").map(PathBuf::from);
    if program.is_none() {
        testkit::idle::note("BLPK does not name a blpk with the feature `remote` (.ci/run remote)");
    }
    program
}

pub fn run(program: &Path, folder: &Path, environment: &[(&str, &str)], args: &[&str]) -> Output {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    let command = command.current_dir(folder).args(args).env("NO_COLOR", "1");
    command.envs(environment.iter().copied()).output().unwrap()
}

/// Files of all kinds below `bucket`.
fn files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("bucket");
    std::fs::create_dir(&to).unwrap();
    let testdata = testkit::testdata("");
    for (from, name) in [
        ("datasets/bcolz/table_mixed", "table"),
        ("datasets/bcolz/py2_int64", "array"),
        ("frames/b2nd", "frames"),
    ] {
        testkit::datasets::copy(&testdata.join(from), &to.join(name));
    }
    std::fs::copy(
        testdata.join("bloscpack/b_many_256B.blp"),
        to.join("file.blp"),
    )
    .unwrap();
    std::fs::write(to.join("lines.csv"), "a,b\n1,x\n2,y\n").unwrap();
    let writer = bloscpack::records::RecordWriter::builder();
    let mut writer = writer
        .packed(1000)
        .write_to_file(std::fs::File::create(to.join("r.blp")).unwrap())
        .unwrap();
    for number in 0..1000 {
        writer.push(format!("record {number}")).unwrap();
    }
    writer.finish().unwrap();
    let lines: String = (0..50_000).map(|line| format!("line {line}\n")).collect();
    let metadata = bloscpack::Metadata::from_json(r#"{"unit": "EUR"}"#).unwrap();
    let encoder = bloscpack::Encoder::builder().chunk_size(64 << 10);
    let encoder = encoder.metadata(metadata);
    let described = std::fs::File::create(to.join("described.blp")).unwrap();
    let mut encoder = encoder.write_to_file(described).unwrap();
    encoder.write_all(lines.as_bytes()).unwrap();
    encoder.finish().unwrap();
    // Streams without their end marks, and a file without its last bytes.
    const END: usize = 20;
    let encoder = bloscpack::Encoder::builder().chunk_size(64 << 10);
    let mut encoder = encoder.write_to(Vec::new()).unwrap();
    encoder.write_all(lines.as_bytes()).unwrap();
    let stream = encoder.finish().unwrap();
    std::fs::write(to.join("open.blp"), &stream[..stream.len() - END]).unwrap();
    let writer = bloscpack::records::RecordWriter::builder();
    let mut writer = writer.write_to(Vec::new()).unwrap();
    for line in lines.lines().take(1000) {
        writer.push(line).unwrap();
    }
    let stream = writer.finish().unwrap();
    std::fs::write(to.join("open_records.blp"), &stream[..stream.len() - END]).unwrap();
    let whole = std::fs::read(to.join("described.blp")).unwrap();
    std::fs::write(to.join("cut.blp"), &whole[..whole.len() / 2]).unwrap();
    folder
}

/// Subcommands that read Bloscpack files do the same at a URL and at a path: status, messages, and the files that they make.
fn compare_files(program: &Path, folder: &Path, base: &str, environment: &[(&str, &str)]) {
    let decompress = |options: &[&'static str], input: &'static str| {
        [&["decompress"], options, &[input, "out"]].concat()
    };
    let described = ["--metadata-out", "about.json"];
    for (args, status) in [
        (decompress(&[], "{}/described.blp"), 0),
        (decompress(&described, "{}/described.blp"), 0),
        (decompress(&described, "{}/file.blp"), 0),
        (
            decompress(&["--metadata-out", "out"], "{}/described.blp"),
            2,
        ),
        (decompress(&[], "{}/open.blp"), 4),
        (decompress(&["--allow-unterminated"], "{}/open.blp"), 0),
        (decompress(&["--allow-unterminated"], "{}/cut.blp"), 4),
        (decompress(&[], "{}/r.blp"), 5),
        (decompress(&[], "{}/frames/b_struct_c.b2nd"), 5),
        (decompress(&[], "{}/lines.csv"), 5),
        (vec!["records", "unpack", "{}/open_records.blp", "out"], 4),
        (
            vec![
                "records",
                "unpack",
                "--allow-unterminated",
                "{}/open_records.blp",
                "out",
            ],
            0,
        ),
        (vec!["records", "get", "{}/described.blp", "0"], 5),
        (vec!["records", "get", "{}/frames/b_struct_c.b2nd", "0"], 5),
        (
            vec!["records", "unpack", "{}/frames/b_struct_c.b2nd", "out"],
            5,
        ),
        (vec!["recover", "{}/cut.blp", "out"], 3),
        (vec!["recover", "{}/frames/b_struct_c.b2nd", "out"], 5),
        (vec!["info", "{}/cut.blp"], 4),
        (vec!["info", "--json", "{}/cut.blp"], 4),
        (vec!["convert", "--format=2", "{}/described.blp", "out"], 0),
    ] {
        let [found, expected] = [base, "bucket"].map(|base| {
            let args: Vec<String> = args.iter().map(|arg| arg.replace("{}", base)).collect();
            // Decompressing a local file asks for its ending, or for -e.
            let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
            if base == "bucket" && args[0] == "decompress" {
                args.insert(1, "-e");
            }
            let output = run(program, folder, environment, &args);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(base, "{}");
            let made = ["out", "about.json"].map(|name| {
                let path = folder.join(name);
                let bytes = std::fs::read(&path).ok();
                let _ = std::fs::remove_file(path);
                bytes
            });
            (
                output.status.code(),
                text(&output.stdout),
                text(&output.stderr),
                made,
            )
        });
        assert_eq!(found.0, Some(status), "{args:?}: {found:?}");
        assert!(found == expected, "{args:?}: {found:?} {expected:?}");
        let [out, about] = &found.3;
        let is_made = args.contains(&"out") && (status == 0 || args[0] == "recover" && status == 3);
        assert_eq!(out.is_some(), is_made, "{args:?}");
        let has_metadata = args.contains(&"about.json") && args.contains(&"{}/described.blp");
        let metadata = has_metadata.then(|| br#"{"unit": "EUR"}"#.to_vec());
        assert_eq!(about, &metadata, "{args:?}");
    }
}

/// Runs subcommands with a URL and with a path: the output is the same, but for the names in it.
fn compare(
    program: &Path,
    folder: &Path,
    base: &str,
    environment: &[(&str, &str)],
    has_listings: bool,
) {
    let mut inputs = vec![
        vec!["cat", "{}/file.blp"],
        vec!["cat", "--range", "100..300", "{}/file.blp"],
        vec!["info", "{}/file.blp"],
        vec!["info", "--json", "{}/file.blp"],
        vec!["verify", "{}/file.blp"],
        vec!["decompress", "{}/file.blp", "-"],
        vec!["cat", "{}/array"],
        vec!["cat", "--rows", "10..20", "{}/array"],
        vec!["export", "--to", "csv", "{}/table", "-"],
        vec!["export", "--to", "jsonl", "--rows", "3..9", "{}/table", "-"],
        vec!["records", "get", "{}/r.blp", "7", "990.."],
        vec!["records", "get", "{}/r.blp", "1000"],
        vec!["records", "unpack", "{}/r.blp", "-"],
        vec!["recover", "{}/file.blp", "-"],
        vec!["recover", "{}/nothing.blp", "-"],
        vec!["compress", "-t", "1", "{}/lines.csv", "-"],
        vec!["records", "pack", "{}/lines.csv", "-"],
        vec!["cat", "{}/nothing.blp"],
    ];
    if has_listings {
        inputs.extend([
            vec!["info", "{}/array"],
            vec!["verify", "{}/table"],
            vec!["info", "{}/table"],
            vec!["ls", "--json", "{}"],
            vec!["ls", "{}"],
        ]);
    }
    for args in inputs {
        let with = |base: &str| {
            let args: Vec<String> = args.iter().map(|arg| arg.replace("{}", base)).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let output = run(program, folder, environment, &args);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(base, "{}");
            (
                output.status.code(),
                text(&output.stdout),
                text(&output.stderr),
            )
        };
        let (found, expected) = (with(base), with("bucket"));
        assert_eq!(
            (&found.0, &found.1),
            (&expected.0, &expected.1),
            "{args:?}: {found:?}"
        );
        assert_eq!(
            found.2.is_empty(),
            expected.2.is_empty(),
            "{args:?}: {found:?} {expected:?}"
        );
    }
    for (args, shown) in [
        (
            ["convert", "--layout=blz", "{}/array", "copy"],
            &["cat", "copy"] as &[&str],
        ),
        (
            ["convert", "--format=2", "{}/file.blp", "copy.blp"],
            &["cat", "copy.blp"],
        ),
        (
            ["import", "--layout=blz", "{}/lines.csv", "copy"],
            &["export", "--to=csv", "copy", "-"],
        ),
    ] {
        let [found, expected] = [base, "bucket"].map(|base| {
            let args = args.map(|arg| arg.replace("{}", base));
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let made = run(program, folder, environment, &args);
            assert!(made.status.success(), "{args:?}: {made:?}");
            let shown = run(program, folder, &[], shown);
            let copy = folder.join("copy");
            let removed = std::fs::remove_dir_all(&copy);
            removed
                .or_else(|_| std::fs::remove_file(copy.with_extension("blp")))
                .unwrap();
            shown.stdout
        });
        assert!(found == expected && !found.is_empty(), "{args:?}");
    }
}

#[test]
fn with_s3() {
    let Some(program) = program() else { return };
    let folder = files();
    let endpoint = servers::s3(folder.path());
    let environment = [
        ("AWS_ACCESS_KEY_ID", servers::KEY),
        ("AWS_SECRET_ACCESS_KEY", servers::SECRET),
        ("AWS_ENDPOINT", &endpoint),
        ("AWS_ALLOW_HTTP", "true"),
    ];
    compare(&program, folder.path(), "s3://bucket", &environment, true);
    compare_files(&program, folder.path(), "s3://bucket", &environment);
    for args in [
        ["decompress", "s3://bucket/array", "-"],
        ["compress", "s3://bucket/array", "-"],
    ] {
        let output = run(&program, folder.path(), &environment, &args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("'s3://bucket/array' is a directory"),
            "{text}"
        );
    }
    // The same by options, and what is wrong is said without the secret.
    let endpoint = format!("endpoint={endpoint}");
    let secret = format!("secret_access_key={}x", servers::SECRET);
    let key = format!("access_key_id={}", servers::KEY);
    let args = [
        "cat",
        "s3://bucket/file.blp",
        "--store",
        &endpoint,
        "--store",
        &secret,
        "--store",
        &key,
    ];
    let output = run(
        &program,
        folder.path(),
        &[("AWS_ALLOW_HTTP", "true")],
        &args,
    );
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("s3://bucket/file.blp") && text.contains("AWS_SECRET_ACCESS_KEY"),
        "{text}"
    );
    assert!(!text.contains(servers::SECRET), "{text}");
}

#[test]
fn with_a_plain_web_server() {
    let Some(program) = program() else { return };
    let folder = files();
    let base = format!("{}/bucket", servers::http(folder.path()));
    compare(&program, folder.path(), &base, &[], false);
    compare_files(&program, folder.path(), &base, &[]);
    let output = run(
        &program,
        folder.path(),
        &[],
        &["cat", "htp://host/file.blp"],
    );
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && text.contains("is http:// meant?"),
        "{text}"
    );
}
