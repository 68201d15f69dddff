//! Tests of a superchunk of bcolz, BLZ or carray: a header of 16 bytes, one chunk, and nothing else.

use bloscpack::Options;
use bloscpack_datasets::{CArray, Dataset};
use bloscpack_error::{Category, Result};
use bloscpack_storage::Memory;

/// Written by bcolz 1.2.1 for `np.array([3.25])`.
const REAL: [u8; 40] = [
    0x62, 0x6c, 0x70, 0x6b, 0x01, 0, 0, 0, 0x01, 0, 0, 0, 0, 0, 0, 0, //
    0x02, 0x01, 0x33, 0x08, 0x08, 0, 0, 0, 0x08, 0, 0, 0, 0x18, 0, 0, 0, //
    0, 0, 0, 0, 0, 0, 0x0a, 0x40,
];
const SIZES: &str = r#"{"shape": [1], "nbytes": 8, "cbytes": 16408}"#;
const STORAGE: &str = r#"{"dtype": "float64", "cparams": {"clevel": 5, "shuffle": 1, "cname": "lz4", "quantize": 0}, "chunklen": 2048, "expectedlen": 1, "dflt": 0.0}"#;
/// Strict, and as bcolz reads.
const BOTH: [bool; 2] = [false, true];

/// The array of this superchunk.
fn array(superchunk: &[u8], lenient: bool) -> CArray {
    let store = Memory::from([
        ("__attrs__", b"{}".to_vec()),
        ("meta/sizes", SIZES.as_bytes().to_vec()),
        ("meta/storage", STORAGE.as_bytes().to_vec()),
        ("data/__0.blp", superchunk.to_vec()),
    ]);
    let options = Options::new().threads(1).lenient(lenient);
    let dataset = Dataset::open_in(store, &options).unwrap();
    dataset.into_array().unwrap()
}

fn read(superchunk: &[u8], lenient: bool) -> Result<Vec<f64>> {
    array(superchunk, lenient).to_vec(0..1)
}

/// The category of the error, which names the file.
fn refused(superchunk: &[u8], lenient: bool) -> Category {
    let error = read(superchunk, lenient).unwrap_err();
    assert_eq!(error.path().unwrap().to_str(), Some("data/__0.blp"));
    error.category()
}

fn changed(at: usize, byte: u8) -> [u8; 40] {
    let mut file = REAL;
    file[at] = byte;
    file
}

#[test]
fn a_real_superchunk_has_nothing_odd() {
    for lenient in BOTH {
        assert_eq!(read(&REAL, lenient).unwrap(), [3.25]);
        let report = array(&REAL, lenient).verify(|_| {});
        assert_eq!((report.damages.len(), report.warnings.len()), (0, 0));
    }
}

/// bcolz reads a superchunk whose first 16 bytes are all 0xFF.
#[test]
fn other_headers_are_refused_or_ignored() {
    for at in 0..16 {
        let file = changed(at, 0xff);
        // Another magic or version is another format.
        let expected = if at < 5 {
            Category::Unsupported
        } else {
            Category::Damaged
        };
        assert_eq!(refused(&file, false), expected, "byte {at}");
        assert_eq!(read(&file, true).unwrap(), [3.25], "byte {at}");
    }
    let all = [&[0xff; 16], &REAL[16..]].concat();
    assert_eq!(read(&all, true).unwrap(), [3.25]);
}

/// bcolz does not look at them either.
#[test]
fn trailing_bytes_are_ignored_and_reported() {
    let file = [&REAL[..], b"stale"].concat();
    for lenient in BOTH {
        assert_eq!(read(&file, lenient).unwrap(), [3.25]);
        let report = array(&file, lenient).verify(|_| {});
        assert_eq!(report.damages.len(), 0);
        assert_eq!(
            report.warnings,
            ["data/__0.blp: 5 unexpected bytes follow the chunk"]
        );
    }
}

#[test]
fn even_a_lenient_reader_requires_a_whole_chunk() {
    for lenient in BOTH {
        for len in 0..40 {
            let found = refused(&REAL[..len], lenient);
            assert_eq!(found, Category::CutShort, "{len} bytes");
        }
        assert_eq!(refused(&changed(16, 6), lenient), Category::Unsupported);
        assert_eq!(refused(&changed(19, 0), lenient), Category::Damaged);
        assert_eq!(refused(&changed(28, 0x19), lenient), Category::Damaged);
        let mark = [&REAL[..16], &blosc1::ChunkHeader::END_MARK].concat();
        assert_eq!(refused(&mark, lenient), Category::Damaged);
    }
}

/// A changed bit gives an error or an element.
#[test]
fn every_bit_may_be_changed() {
    let mut refused = 0;
    for (at, bit) in (0..40).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let file = changed(at, REAL[at] ^ 1 << bit);
        for lenient in BOTH {
            match read(&file, lenient) {
                Ok(elements) => assert_eq!(elements.len(), 1),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 16 * 8, "{refused}");
}
