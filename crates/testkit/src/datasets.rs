//! Datasets that real programs wrote, and what their manifests say of them: those in `testdata/`, and
//! the whole corpora where they are unpacked.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::documents::python;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The corpora, and how many datasets each has where it is whole.
pub const WHOLE: [(&str, usize); 4] = [
    ("bcolz", 252),
    ("bcolz-legacy", 53),
    ("blz", 124),
    ("carray05", 78),
];

/// One dataset.
pub struct Dataset {
    /// Which of the corpora.
    pub corpus: &'static str,
    /// Where the corpus is; paths in the manifest are below it.
    pub folder: PathBuf,
    pub root: PathBuf,
    /// The manifest's entry. Python's `NaN`, `Infinity` and `-Infinity` are text.
    pub entry: Value,
}

impl Dataset {
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// A text of the manifest, empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.entry[key].as_str().unwrap_or_default()
    }

    /// Whether name or note says so.
    pub fn says(&self, word: &str) -> bool {
        self.name().contains(word) || self.text("note").contains(word)
    }

    /// The columns, or the array itself; nothing where the program failed.
    pub fn arrays(&self) -> Vec<&Value> {
        match self.entry["columns"].as_array() {
            Some(columns) => columns.iter().collect(),
            None if self.entry["dtype"].is_null() => Vec::new(),
            None => vec![&self.entry],
        }
    }
}

/// A copy of the datasets in `testdata/` that may be changed, with the corpora and the folder `documents`.
pub fn chosen() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&crate::testdata("datasets"), folder.path());
    folder
}

/// Copies a folder with all its content.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            std::fs::copy(source, target).unwrap();
        }
    }
}

/// Where the whole corpora are, if they are.
pub fn whole() -> Option<PathBuf> {
    crate::corpus::parts(WHOLE.map(|(corpus, _)| corpus))
}

/// All datasets of the corpora in a folder.
pub fn datasets(folder: &Path) -> Vec<Dataset> {
    let of = |(corpus, _)| datasets_of(corpus, &folder.join(corpus));
    WHOLE.into_iter().flat_map(of).collect()
}

fn datasets_of(corpus: &'static str, folder: &Path) -> Vec<Dataset> {
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest = python::json(&manifest);
    let entries = manifest["datasets"].as_array().unwrap();
    let dataset = |entry: &Value| Dataset {
        corpus,
        folder: folder.to_owned(),
        root: folder.join(entry["name"].as_str().unwrap()),
        entry: entry.clone(),
    };
    entries.iter().map(dataset).collect()
}
