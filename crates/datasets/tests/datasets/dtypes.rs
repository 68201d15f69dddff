//! Tests of the types in real datasets, if the corpus is unpacked.

use bloscpack_dtype::DType;
use bloscpack_dtype::NpyHeader;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Folders of the corpus that hold directories of datasets.
const FOLDERS: [&str; 4] = ["bcolz", "bcolz-legacy", "blz", "carray05"];

fn folders() -> Vec<PathBuf> {
    let corpus = testkit::corpus::parts(FOLDERS);
    let folders = |corpus: PathBuf| FOLDERS.map(|name| corpus.join(name)).to_vec();
    corpus.map(folders).unwrap_or_default()
}

/// The value of every `storage.dtype`, of arrays and of columns.
fn named(value: &Value, found: &mut Vec<String>) {
    if let Some(dtype) = value.pointer("/storage/dtype").and_then(Value::as_str) {
        found.push(dtype.to_owned());
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| named(item, found)),
        Value::Object(members) => members.values().for_each(|item| named(item, found)),
        _ => {}
    }
}

#[test]
fn types_of_real_datasets_are_read_and_written_as_they_stand_there() {
    for folder in folders() {
        let text = fs::read_to_string(folder.join("manifest.json")).unwrap();
        // Words that only Python knows; no type has them in its text.
        let text = text.replace("NaN", "null").replace("Infinity", "0");
        let mut dtypes = Vec::new();
        named(&serde_json::from_str(&text).unwrap(), &mut dtypes);
        assert!(dtypes.len() > 50, "{}: {}", folder.display(), dtypes.len());
        for text in dtypes {
            let dtype = DType::parse(&text).unwrap();
            // Older versions of NumPy left the spaces out.
            let written = dtype.to_string().replace(' ', "");
            assert_eq!(written, text.replace(' ', ""), "{}", folder.display());
        }
    }
}

#[test]
fn arrays_of_the_corpus_are_as_long_as_their_headers_say() {
    for folder in folders() {
        let entries = fs::read_dir(&folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let arrays: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "npy"))
            .collect();
        assert!(arrays.len() > 20, "{}: {}", folder.display(), arrays.len());
        for path in arrays {
            let bytes = fs::read(&path).unwrap();
            let (header, len) = NpyHeader::parse(&bytes).unwrap();
            let start = &bytes[..NpyHeader::START];
            assert_eq!(NpyHeader::len_of(start), Ok(len), "{}", path.display());
            let content = u64::try_from(bytes.len() - len).unwrap();
            assert_eq!(header.content_len(), Some(content), "{}", path.display());
            // Other versions leave a different room after it.
            let again = header.encode().unwrap();
            let end = |bytes: &[u8]| bytes[10..].iter().position(|byte| *byte == b'}');
            assert_eq!(
                again[10..10 + end(&again).unwrap()],
                bytes[10..10 + end(&bytes).unwrap()]
            );
        }
    }
}
