//! Tests of the small files of datasets with a flipped bit, or cut: an error or what they now say, but no panic and
//! nothing that cannot be written and read again.

use bloscpack_datasets::wire::proposal::{
    self, SuperchunkHeader, encode_attributes, parse_attributes, parse_shape,
};
use bloscpack_datasets::wire::{Attributes, RootDirs, Sizes, Storage, StorageStyle};

const SIZES: &[u8] = b"{\"shape\": [1000, 3], \"nbytes\": 24000, \"cbytes\": -652}\n";
const STORAGE: &[u8] = b"{\"dtype\": \"<U7\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \"quantize\": 0}, \"chunklen\": 256, \"expectedlen\": 1000, \"dflt\": [\"\\u00e9\\u20ac\", NaN, -Infinity]}\n";
const ROOTDIRS: &[u8] =
    b"{\"dirs\": {\"a\": \"/data/t/a\", \"\\u00e9\": \"\\u00e9\"}, \"names\": [\"a\", \"\\u00e9\"]}\n";
const ATTRS: &[u8] = b"{\"temp\": 22.5, \"big\": 1152921504606846976, \"nested\": {\"l\": [1, null, true]}, \"uni\": \"\\u00e9\", \"n\": NaN}\n";
const YAML_STORAGE: &[u8] = b"dtype: \n  col1: int8\n  col2: {x: \"f\\u00e9\"}\nchunkshape: (30, 20)\nsuperchunksize: 10  # max\nendianness: big\norder: C\ncompression:\n  library: blosclz\n  level: 5\n  filters: [shuffle, bitshuffle]\n";
const YAML_ATTRS: &[u8] =
    b"t:\n  value: 23.5\n  type: 'scalar'\nids:\n  - [1,3,6,10]\n  - {a: ~, \"b\": x}\n";

/// The text with each of its bits turned in turn, and cut to each length.
fn variants(file: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let flips = (0..8 * file.len()).map(|bit| {
        let mut flipped = file.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    });
    flips.chain((0..file.len()).map(|len| file[..len].to_vec()))
}

/// A JSON object ends with its brace.
#[test]
fn a_file_that_was_cut_is_never_taken_for_whole() {
    for len in 0..SIZES.len() - 1 {
        assert!(Sizes::parse(&SIZES[..len]).is_err(), "{len}");
    }
    for len in 0..STORAGE.len() - 1 {
        assert!(Storage::parse(&STORAGE[..len]).is_err(), "{len}");
    }
    for len in 0..ROOTDIRS.len() - 1 {
        assert!(RootDirs::parse(&ROOTDIRS[..len]).is_err(), "{len}");
    }
    for len in 0..ATTRS.len() - 1 {
        assert!(Attributes::parse(&ATTRS[..len]).is_err(), "{len}");
    }
}

#[test]
fn json_that_is_read_is_written_and_read_again() {
    let mut read = [0; 4];
    for file in variants(SIZES) {
        if let Ok(sizes) = Sizes::parse(&file) {
            assert_eq!(Sizes::parse(&sizes.encode()).unwrap(), sizes);
            read[0] += 1;
        }
    }
    for file in variants(STORAGE) {
        if let Ok(storage) = Storage::parse(&file) {
            let again = storage.encode(StorageStyle::Bcolz).unwrap();
            let again = Storage::parse(&again).unwrap();
            assert_eq!(again.default, storage.default);
            assert_eq!(
                (&again.dtype, again.chunk_rows),
                (&storage.dtype, storage.chunk_rows)
            );
            read[1] += 1;
        }
    }
    for file in variants(ROOTDIRS) {
        if let Ok(dirs) = RootDirs::parse(&file) {
            assert_eq!(RootDirs::parse(&dirs.encode()).unwrap(), dirs);
            read[2] += 1;
        }
    }
    for file in variants(ATTRS) {
        let Ok(mut attributes) = Attributes::parse(&file) else {
            continue;
        };
        assert_eq!(Attributes::parse(&attributes.encode()).unwrap(), attributes);
        for key in attributes.keys() {
            attributes.set(&key, &true.into()).unwrap();
            assert_eq!(attributes.get(&key), Some(true.into()));
            assert!(attributes.remove(&key));
            Attributes::parse(&attributes.encode()).unwrap();
        }
        assert!(attributes.is_empty());
        read[3] += 1;
    }
    assert!(read.iter().all(|read| *read > 50), "{read:?}");
}

#[test]
fn yaml_that_is_read_is_written_and_read_again() {
    let mut read = [0; 2];
    for file in variants(YAML_STORAGE) {
        if let Ok(storage) = proposal::Storage::parse(&file) {
            let again = storage.encode().unwrap();
            assert_eq!(proposal::Storage::parse(&again).unwrap(), storage);
            read[0] += 1;
        }
    }
    for file in variants(YAML_ATTRS) {
        if let Ok(attributes) = parse_attributes(&file) {
            let again = encode_attributes(&attributes).unwrap();
            assert_eq!(parse_attributes(&again).unwrap(), attributes);
            read[1] += 1;
        }
    }
    assert!(read.iter().all(|read| *read > 50), "{read:?}");
    for file in variants(b"(300L, 200, 1,)\n") {
        let _ = parse_shape(&file);
    }
}

#[test]
fn headers_that_are_read_lie_inside_of_their_files() {
    let header = SuperchunkHeader {
        index: true,
        file_len: 200,
        ..SuperchunkHeader::new(600, 3)
    };
    for file in variants(&header.encode().unwrap()) {
        if let Ok(header) = SuperchunkHeader::decode(&file, 200) {
            assert!(header.chunks_begin() + 16 * header.nchunks <= 200);
        }
    }
    for index in variants(&header.encode_index(&[56, 90, 180]).unwrap()) {
        if let Ok(index) = header.parse_index(&index) {
            assert!(index.is_sorted() && index.iter().all(|at| *at + 16 <= 200));
        }
    }
}
