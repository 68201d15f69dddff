//! Tests of export from datasets that real programs wrote.

use super::{Held, available, check_round, datasets, written};
use bloscpack_datasets::Dataset;
use bloscpack_error::Category;
use bloscpack_exchange::{ArraySource, Format};
use sha2::{Digest, Sha256};

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a `.npy` file after its header, whose end is found as the format's document says.
fn behind_header(file: &[u8]) -> &[u8] {
    assert_eq!(&file[..7], b"\x93NUMPY\x01");
    let len = u16::from_le_bytes([file[8], file[9]]) as usize;
    assert_eq!((10 + len) % 64, 0);
    assert_eq!(file[9 + len], b'\n');
    &file[10 + len..]
}

#[test]
fn every_dataset_goes_out_and_comes_back() {
    let folder = datasets::chosen();
    let (mut rounds, mut digests) = (0, 0);
    for dataset in datasets::datasets(folder.path()) {
        let (name, opened) = (dataset.name(), Dataset::open(&dataset.root));
        // Python objects, programs that failed, and directories that hold several datasets.
        let Ok(opened) = opened else { continue };
        let held = match &opened {
            Dataset::Array(array) => Held::of(&mut ArraySource::new(array).unwrap(), 10_000),
            Dataset::Table(table) => table
                .source()
                .and_then(|mut source| Held::of(&mut source, 10_000)),
        };
        let held = match held {
            Ok(held) => held,
            Err(error) => {
                assert_eq!(error.category(), Category::Unsupported, "{name}: {error}");
                continue;
            }
        };
        if held.schema.row_bytes() == 0 {
            continue;
        }
        for format in available() {
            check_round(&held, format).unwrap_or_else(|error| panic!("{name}, {format}: {error}"));
            rounds += 1;
        }
        for format in [Format::JsonLines, Format::ArrowStream] {
            if format.is_available() {
                written(&mut held.clone(), format).unwrap();
            }
        }
        let expected = dataset.entry["sha256_native"].as_str();
        // The padding between fields is arbitrary.
        let expected = expected.filter(|_| !dataset.says("aligned"));
        if let (Dataset::Array(_), Some(expected)) = (&opened, expected) {
            let file = written(&mut held.clone(), Format::Npy).unwrap();
            assert_eq!(sha256(behind_header(&file)), expected, "{name}");
            let bytes = written(&mut held.clone(), Format::Bytes).unwrap();
            assert_eq!(sha256(&bytes), expected, "{name}");
            digests += 1;
        }
    }
    println!("{rounds} rounds, {digests} digests");
    assert!(rounds > 140 && digests > 60, "{rounds} {digests}");
}
