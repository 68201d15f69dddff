//! Tests of files of datasets and frames, each cut at each byte, and removed.

use crate::matrix::flips::came;
use crate::matrix::samples::{Files, Reader, Sample, samples};
use crate::matrix::tally::{Came, Table};
use bloscpack::{Category, Error};
use bloscpack_open::datasets::DatasetLayout;
use std::path::Path;
use testkit::effort;

/// The outcomes of a cut that are allowed besides an error, and why.
fn allowed(sample: &Sample, path: &str, len: usize) -> &'static [Came] {
    let (_, bytes) = sample.files.iter().find(|file| file.0 == path).unwrap();
    let is_proposal = sample.reader == Reader::Dataset(DatasetLayout::CarrayDocument);
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        // The end of the last line says nothing.
        "sizes" | "shape" | "__attrs__" | "__rootdirs__" if len + 1 == bytes.len() => &[Came::Same],
        // YAML has no end: each of its beginnings is whole.
        "attributes" if is_proposal => &[Came::Same, Came::Wrong],
        "storage" if is_proposal => &[Came::Same],
        "attributes" | "storage" if len + 1 == bytes.len() => &[Came::Same],
        // A note for chunks to come.
        "superchunksize" => &[Came::Same],
        // Empty room after the last chunk.
        _ if name.ends_with(".bin") && bytes[len..].iter().all(|byte| *byte == 0) => &[Came::Same],
        _ => &[],
    }
}

/// The outcomes of losing a file that are allowed besides an error.
fn allowed_without(path: &str) -> &'static [Came] {
    match path.rsplit_once('/').map_or(path, |(_, name)| name) {
        // No attributes are an empty file or none.
        "attributes" | "__attrs__" => &[Came::Same, Came::Wrong],
        "superchunksize" => &[Came::Same],
        _ => &[],
    }
}

/// The error says that something is missing, and where; of YAML it may be any error.
fn is_told(sample: &Sample, path: &str, error: &Error) -> bool {
    let is_proposal = sample.reader == Reader::Dataset(DatasetLayout::CarrayDocument);
    if is_proposal && path.starts_with("meta/") {
        return error.category() != Category::Failed;
    }
    let text = error.to_string();
    let says_where = error.path() == Some(Path::new(path))
        || error.position().is_some()
        || text.contains("byte") && matches!(sample.reader, Reader::Contiguous | Reader::Sparse);
    error.category() == Category::CutShort && says_where
}

#[test]
fn no_cut_is_silent() {
    let (mut table, mut complaints) = (Table::default(), Vec::new());
    for sample in &samples() {
        let truth = sample.read(&sample.files).unwrap();
        for (number, (path, bytes)) in sample.files.iter().enumerate() {
            let mut files: Files = sample.files.clone();
            for len in effort::sample((0..bytes.len()).rev(), 3) {
                files[number].1.truncate(len);
                let place =
                    || format!("{}, {}: {path} cut to {len}", sample.container, sample.name);
                let came = came(sample, &files, &truth, &place);
                table.add(sample.container, came);
                match sample.read(&files) {
                    Err(error) if is_told(sample, path, &error) => {}
                    Err(error) => complaints.push(format!("{}: {error:?}: {error}", place())),
                    Ok(_) if allowed(sample, path, len).contains(&came) => {}
                    Ok(_) => complaints.push(format!("{}: {came:?}", place())),
                }
            }
            if files.len() > 1 {
                files.remove(number);
                let place = || format!("{}, {}: {path} gone", sample.container, sample.name);
                let came = came(sample, &files, &truth, &place);
                if came != Came::Error && !allowed_without(path).contains(&came) {
                    complaints.push(format!("{}: {came:?}", place()));
                }
            }
        }
    }
    table.print("cuts");
    for complaint in complaints.iter().take(40) {
        println!("{complaint}");
    }
    assert!(complaints.is_empty(), "{} complaints", complaints.len());
    assert!(
        table.sum().all() as usize > effort::cases(10_000, 4),
        "{:?}",
        table.sum()
    );
}
