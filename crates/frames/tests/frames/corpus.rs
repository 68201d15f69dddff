//! Tests of every container of the corpora, read whole and in slices, against its manifest.

use crate::frames::{self, Frame as Expected};
use crate::pick::pick;
use bloscpack_error::Category;
use bloscpack_frames::{Frame, NdArray};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// The bytes of the file are read differently by different versions of the library that wrote it.
const AMBIGUOUS: &str = "filt_shuffle_meta.cat";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(expected: &Expected) {
    let name = expected.name();
    let array = NdArray::open(&expected.root).unwrap_or_else(|error| panic!("{name}: {error}"));
    let shape: Vec<u64> = expected.numbers("shape");
    assert_eq!(array.shape(), shape, "{name}");
    let narrow = |shape: &[u32]| -> Vec<u64> { shape.iter().map(|len| u64::from(*len)).collect() };
    assert_eq!(
        narrow(array.chunk_shape()),
        expected.numbers("chunkshape"),
        "{name}"
    );
    assert_eq!(
        narrow(array.block_shape()),
        expected.numbers("blockshape"),
        "{name}"
    );
    let whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
    if name == AMBIGUOUS {
        let error = array.read_slice(&whole).unwrap_err();
        assert_eq!(error.category(), Category::Unsupported, "{name}: {error}");
        return;
    }
    let bytes = array
        .read_slice(&whole)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let sha256 = expected.text("sha256");
    assert_eq!(sha256.is_empty(), name.contains("uninit"), "{name}");
    if !sha256.is_empty() {
        assert_eq!(hex(&Sha256::digest(&bytes)), sha256, "{name}");
    }
    slices(name, &array, &bytes);
    check_metadata(expected, array.frame());
    let report = array.frame().verify(|_| {});
    assert!(report.is_sound(), "{name}: {:?}", report.damages);
}

/// A few slices are what the whole has there.
fn slices(name: &str, array: &NdArray, whole: &[u8]) {
    let shape = array.shape().to_vec();
    let itemsize = array.itemsize() as usize;
    for step in 0..6u64 {
        let slice: Vec<Range<u64>> = (0..)
            .zip(&shape)
            .map(|(axis, len)| match (step + axis) % 4 {
                0 => 0..*len,
                1 => len / 3..len / 3 + u64::from(*len > 0),
                2 => len / 4..len - len / 4,
                _ => len.saturating_sub(2)..*len,
            })
            .collect();
        let mut expected = Vec::new();
        pick(&slice, &shape, itemsize, 0, whole, &mut expected);
        assert!(
            array.read_slice(&slice).unwrap() == expected,
            "{name} {slice:?}"
        );
    }
}

fn check_metadata(expected: &Expected, frame: &Frame) {
    let name = expected.name();
    // Two entries of the manifests say nothing of metadata.
    if expected.entry.get("metalayers").is_none() {
        assert!(name.starts_with("b_uninit"), "{name}");
        return;
    }
    let layers: Vec<&str> = frame.metalayers().iter().map(|(layer, _)| layer).collect();
    assert_eq!(layers.len(), expected.names("metalayers").len(), "{name}");
    for layer in expected.names("metalayers") {
        let bytes = frame
            .metalayers()
            .get(layer)
            .unwrap_or_else(|| panic!("{name} {layer}"));
        // For `b2nd` files the manifest only has the names.
        if let Some(text) = expected.entry["metalayers"][layer].as_str() {
            assert_eq!(hex(bytes), text, "{name} {layer}");
        }
    }
    let layers: Vec<&str> = frame.vlmetalayers().collect();
    assert_eq!(layers.len(), expected.names("vlmetalayers").len(), "{name}");
    for layer in expected.names("vlmetalayers") {
        let bytes = frame
            .vlmetalayer(layer)
            .unwrap()
            .unwrap_or_else(|| panic!("{name} {layer}"));
        let text = expected.entry["vlmetalayers"][layer].as_str().unwrap();
        match layer {
            // The value that Python packed as MessagePack.
            "attrs" => assert_eq!(bytes, b"\x81\xa4unit\xa1K"),
            "hist" => assert!(bytes[..3] == *b"\xdc\0\x32" && bytes[3..].iter().copied().eq(0..50)),
            _ => assert_eq!(hex(&Sha256::digest(&bytes)), text, "{name} {layer}"),
        }
    }
}

#[test]
fn chosen_containers_give_what_their_manifests_say() {
    frames::chosen().iter().for_each(check);
}

#[test]
fn all_containers_of_the_corpora_give_what_their_manifests_say() {
    frames::whole().iter().for_each(check);
}
