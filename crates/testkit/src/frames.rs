//! Blosc2 frames that real programs wrote, and what their manifests say of them: those in `testdata`,
//! and the whole corpora where they are unpacked.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;
use std::path::{Path, PathBuf};

/// The corpora, and how many frames each has where it is whole.
pub const WHOLE: [(&str, usize); 2] = [("caterva", 124), ("b2nd", 43)];
/// How many are in `testdata`.
pub const CHOSEN: usize = 12;

/// One frame.
pub struct Frame {
    /// The file, or the folder of a sparse one.
    pub root: PathBuf,
    /// The manifest's entry.
    pub entry: Value,
}

impl Frame {
    pub fn name(&self) -> &str {
        self.text("file")
    }

    /// A text of the manifest, empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.entry[key].as_str().unwrap_or_default()
    }

    /// Numbers of the manifest.
    pub fn numbers(&self, key: &str) -> Vec<u64> {
        let numbers = self.entry[key].as_array().unwrap().iter();
        numbers.map(|number| number.as_u64().unwrap()).collect()
    }

    /// Names of the manifest: of a list, or those that something has.
    pub fn names(&self, key: &str) -> Vec<&str> {
        match &self.entry[key] {
            Value::Object(named) => named.keys().map(String::as_str).collect(),
            Value::Array(names) => names.iter().map(|name| name.as_str().unwrap()).collect(),
            _ => Vec::new(),
        }
    }

    pub fn is_sparse(&self) -> bool {
        self.text("layout") == "sparse"
    }

    /// The bytes of the file, or of `chunks.b2frame`.
    pub fn bytes(&self) -> Vec<u8> {
        let file = if self.is_sparse() {
            self.root.join("chunks.b2frame")
        } else {
            self.root.clone()
        };
        std::fs::read(file).unwrap()
    }
}

/// The frames in `testdata`.
pub fn chosen() -> Vec<Frame> {
    let frames = frames(&crate::testdata("frames"));
    assert_eq!(frames.len(), CHOSEN);
    frames
}

/// All frames of the corpora; none if the corpora are not unpacked. Meant for tests that work only on the corpus.
pub fn whole() -> Vec<Frame> {
    let folder = crate::corpus::parts(WHOLE.map(|(corpus, _)| corpus));
    let Some(folder) = folder else {
        return Vec::new();
    };
    let frames = frames(&folder);
    let expected: usize = WHOLE.iter().map(|(_, count)| count).sum();
    assert_eq!(frames.len(), expected);
    frames
}

/// The frames of `testdata`, and of the corpus if it is unpacked.
pub fn all() -> Vec<Frame> {
    let is_there = WHOLE
        .iter()
        .all(|(name, _)| crate::corpus::part(name).is_some());
    let mut all = chosen();
    if is_there {
        all.extend(whole());
    }
    all
}

fn frames(folder: &Path) -> Vec<Frame> {
    let of = |(corpus, _)| frames_of(&folder.join(corpus));
    WHOLE.into_iter().flat_map(of).collect()
}

fn frames_of(folder: &Path) -> Vec<Frame> {
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let frame = |entry: &Value| Frame {
        root: folder.join(entry["file"].as_str().unwrap()),
        entry: entry.clone(),
    };
    let entries = manifest["entries"].as_array().unwrap();
    entries.iter().map(frame).collect()
}
