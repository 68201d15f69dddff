//! The command `blpk`, run against both servers. `BLPK` names the program, which has to be built with the feature `remote`.

use crate::servers;
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
    folder
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
