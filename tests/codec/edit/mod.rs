//! Tests of files that grow and change: against a model, on real files, and where a change must be refused.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking, and its numbers are small"
)]

use testkit::golden;
use testkit::manifest;

mod arrays;
mod concurrent;
mod disk;
mod journals;
mod kept;
mod model;
mod odd;
mod others;
mod real;
mod refused;
mod together;

use bloscpack::storage::{Folder, Memory, Snapshot};
use bloscpack::{Options, edit::Editor, indexed::IndexedReader, survey::Survey};
use std::ffi::OsStr;
use std::io::Write;

/// The file that is changed.
const NAME: &str = "a.blp";
/// The name of its journal.
const JOURNAL: &str = "a.blp.blpk-journal";

fn name() -> &'static OsStr {
    NAME.as_ref()
}

fn names(folder: &Memory) -> Vec<String> {
    let names = folder.list().unwrap();
    let names = names.into_iter().map(|name| name.into_string().unwrap());
    names.collect()
}

fn append(editor: &mut Editor<Memory>, data: &[u8]) -> bloscpack::Result<u64> {
    let mut appender = editor.append()?;
    appender.write_all(data)?;
    appender.finish()
}

/// Checks that all readers see the expected content.
fn check(folder: &Memory, model: &[u8], metadata: Option<&str>) {
    let file = folder.bytes(NAME).unwrap();
    assert!(bloscpack::decompress(&file).unwrap() == model);
    let report = bloscpack::verify::verify(file.as_slice(), &Options::new(), |_| Ok(())).unwrap();
    assert!(
        report.is_sound() && report.warnings.is_empty(),
        "{report:?}"
    );
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    let found = survey.members[0].metadata.as_ref();
    assert_eq!(found.map(|metadata| metadata.text().trim_end()), metadata);
    let reader = IndexedReader::open(Snapshot::open_in(folder, name()).unwrap()).unwrap();
    let mut content = vec![0; model.len()];
    reader.read_exact_at(0, &mut content).unwrap();
    assert!(content == model);
}

/// An editor can be given to another thread, and read by several.
#[test]
fn editors_go_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<Editor>();
    is_shared::<bloscpack::edit::EditorBuilder>();
    is_shared::<Snapshot>();
    is_sent::<bloscpack::edit::Appender<'_>>();
}
