//! Files of all kinds by real tools, read from real servers: what comes is what the same files contain on the disk.

use crate::servers::{self, Requests};
use bloscpack::Result;
use bloscpack_open::exchange::Format;
use bloscpack_open::{Container, Kind, Options, Selection};
use bloscpack_remote::{Remote, RemoteOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The content of a container, and the result of its checks. Messages name files in different ways.
#[derive(Debug, PartialEq)]
struct Content {
    kind: Kind,
    shape: Option<Vec<u64>>,
    columns: Option<Vec<String>>,
    bytes: Option<Vec<u8>>,
    rows: Option<Vec<u8>>,
    checks: Option<(u64, u64, u64)>,
}

fn read(opened: Result<Box<dyn Container>>, verifies: bool) -> Option<Content> {
    let container = opened.ok()?;
    let outline = container.outline().ok();
    let (shape, columns) = outline.map_or((None, None), |outline| (outline.shape, outline.columns));
    let (all, mut bytes, mut rows) = (Selection::default(), Vec::new(), Vec::new());
    let bytes = container.copy(&all, &mut bytes).is_ok().then_some(bytes);
    let exported = container.export(&all, Format::JsonLines, &mut rows);
    let checks = container.verify().ok().filter(|_| verifies);
    Some(Content {
        kind: container.kind(),
        shape,
        columns,
        bytes,
        rows: exported.is_ok().then_some(rows),
        checks: checks.map(|report| (report.chunks, report.bytes, report.damage_count)),
    })
}

/// All files and datasets in a folder: everything that can be opened. `path` is relative to `root`.
fn inputs(root: &Path, path: &Path, found: &mut Vec<PathBuf>) {
    let here = root.join(path);
    let is_dataset = ["meta", "__attrs__", "__rootdirs__", "chunks.b2frame"];
    if here.is_file() || is_dataset.iter().any(|name| here.join(name).exists()) {
        found.push(path.to_owned());
        return;
    }
    let mut names: Vec<_> = here
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    for name in names {
        inputs(root, &path.join(name), found);
    }
}

/// The test data, and the corpus if it is there, as a bucket: without what git adds or leaves out.
fn bucket() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("bucket");
    for part in ["bloscpack", "datasets", "frames"] {
        testkit::datasets::copy(&testkit::testdata("").join(part), &to.join(part));
    }
    for part in [
        "bloscpack",
        "bcolz",
        "bcolz-legacy",
        "blz",
        "carray05",
        "caterva",
        "b2nd",
    ] {
        if let Some(from) = testkit::corpus::part(part) {
            testkit::datasets::copy(&from, &to.join("corpus").join(part));
        }
    }
    let mut found = Vec::new();
    inputs(&to, Path::new(""), &mut found);
    assert!(found.len() > 150, "{}", found.len());
    (folder, found)
}

/// Compares each input, a path in `root`, with what comes from the URL that `base` and that path make. Inputs of all kinds are among
/// them.
fn compare(remote: &Remote, base: &str, root: &Path, inputs: &[PathBuf], verifies: bool) {
    let mut kinds = std::collections::HashMap::new();
    for input in inputs {
        let kind = compare_one(remote, base, root, input, verifies);
        *kinds.entry(kind).or_insert(0) += 1;
    }
    println!("{base}...: {kinds:?}");
    for kind in [Kind::Bloscpack, Kind::Array, Kind::Table, Kind::Frame] {
        assert!(kinds.contains_key(&Some(kind)), "{kinds:?}");
    }
}

fn compare_one(
    remote: &Remote,
    base: &str,
    root: &Path,
    input: &Path,
    verifies: bool,
) -> Option<Kind> {
    let (options, path) = (Options::new().threads(2), root.join(input));
    // Only a local directory without any file is a dataset that cannot be in a bucket.
    let expected = read(bloscpack_open::open(&path, &options), verifies);
    let url = format!("{base}{}", input.display().to_string().replace('%', "%25"));
    let found = read(remote.open(&url, &options), verifies);
    assert!(
        found == expected,
        "{url}: {}",
        differences(&found, &expected)
    );
    expected.map(|content| content.kind)
}

fn differences(found: &Option<Content>, expected: &Option<Content>) -> String {
    let text =
        |content: &Option<Content>| format!("{content:?}").chars().take(600).collect::<String>();
    format!("{}\n instead of {}", text(found), text(expected))
}

#[test]
fn from_s3() {
    let (folder, inputs) = bucket();
    let options = RemoteOptions::new()
        .environment(false)
        // This server answers for a folder as if it had failed.
        .retries(0, std::time::Duration::from_secs(10))
        .set("endpoint", servers::s3(folder.path()))
        .set("allow_http", "true")
        .set("access_key_id", servers::KEY)
        .set("secret_access_key", servers::SECRET);
    let remote = Remote::new(options).unwrap();
    // A bucket for each input, for this server looks at every object of a bucket to list some of them.
    let place = |(number, input): (usize, &PathBuf)| {
        let placed = Path::new(&format!("input-{number}")).join(input.file_name().unwrap());
        let to = folder.path().join(&placed);
        std::fs::create_dir(to.parent().unwrap()).unwrap();
        std::fs::rename(folder.path().join("bucket").join(input), to).unwrap();
        placed
    };
    let inputs: Vec<_> = inputs.iter().enumerate().map(place).collect();
    compare(&remote, "s3://", folder.path(), &inputs, true);
}

#[test]
fn from_a_plain_web_server() {
    let (folder, inputs, base) = served(Requests::default());
    let remote = Remote::new(RemoteOptions::new()).unwrap();
    compare(
        &remote,
        &base,
        &folder.path().join("bucket"),
        &inputs,
        false,
    );
}

/// Serves the bucket in this way; returns its folder, what is in it, and its URL.
fn served(requests: Requests) -> (tempfile::TempDir, Vec<PathBuf>, String) {
    let (folder, inputs) = bucket();
    let base = servers::http_with(folder.path(), Arc::new(Mutex::new(requests)));
    (folder, inputs, format!("{base}/bucket/"))
}

/// Public buckets say of what is not there that it is forbidden.
#[test]
fn from_a_server_that_forbids_what_is_missing() {
    let (folder, inputs, base) = served(Requests {
        forbids_missing: true,
        ..Requests::default()
    });
    let remote = Remote::new(RemoteOptions::new()).unwrap();
    let some: Vec<PathBuf> = inputs.into_iter().step_by(3).collect();
    compare(&remote, &base, &folder.path().join("bucket"), &some, false);
}

/// Such as the one that comes with Python: folders of small files are read, and files are refused.
#[test]
fn from_a_server_without_ranges() {
    let (folder, inputs, base) = served(Requests {
        has_no_ranges: true,
        ..Requests::default()
    });
    let remote = Remote::new(RemoteOptions::new()).unwrap();
    let bucket = folder.path().join("bucket");
    let (folders, files): (Vec<_>, Vec<_>) = inputs
        .into_iter()
        .partition(|input| bucket.join(input).is_dir());
    assert!(folders.len() > 10 && files.len() > 3);
    for input in folders.iter().step_by(4) {
        compare_one(&remote, &base, &bucket, input, false);
    }
    for file in files {
        let url = format!("{base}{}", file.display());
        let error = remote.open(&url, &Options::new()).unwrap_err();
        assert!(error.to_string().contains("download the file"), "{error}");
    }
}

#[test]
fn from_the_disk_by_url() {
    let (folder, inputs) = bucket();
    let remote = Remote::new(RemoteOptions::new()).unwrap();
    let base = format!("file://{}/bucket/", folder.path().display());
    let some: Vec<PathBuf> = inputs.into_iter().step_by(5).collect();
    compare(&remote, &base, &folder.path().join("bucket"), &some, true);
}
