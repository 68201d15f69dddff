//! Tests of frames whose elements are not, or not all, in them, written by python-blosc2. What is in them was read there.

use bloscpack_error::{Category, Code, Error};
use bloscpack_frames::{Frame, NdArray};
use serde_json::Value;
use std::path::PathBuf;

fn path(name: &str) -> PathBuf {
    testkit::testdata("virtual").join(name)
}

fn manifest() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(path("manifest.json")).unwrap();
    let Value::Object(entries) = serde_json::from_str(&text).unwrap() else {
        panic!("no object");
    };
    entries.into_iter().collect()
}

fn is_virtual(error: &Error) -> bool {
    error.code() == Code::NotStored
}

/// Elements of 10 rows of 14, in which there is 1 to 140.
fn at(element: usize) -> [std::ops::Range<u64>; 2] {
    let (row, column) = ((element / 14) as u64, (element % 14) as u64);
    [row..row + 1, column..column + 1]
}

#[test]
fn an_element_is_read_right_or_refused() {
    let all = manifest();
    assert_eq!(all.len(), 15);
    for (name, expected) in all {
        let array = NdArray::open(path(&name)).unwrap();
        let found = array.frame().virtual_data().unwrap();
        assert_eq!(found.kind().name(), expected["kind"], "{name}");
        assert_eq!(found.name(), expected["name"].as_str(), "{name}");
        if found.definition().is_some() && found.name().is_none() {
            assert_eq!(
                found.definition(),
                expected["definition"].as_str(),
                "{name}"
            );
        }
        let operands = expected["operands"].as_object().unwrap();
        let operands: Vec<_> = operands
            .iter()
            .map(|(name, at)| (name.as_str(), at.as_str().unwrap()))
            .collect();
        assert_eq!(found.operands().collect::<Vec<_>>(), operands, "{name}");
        for (element, present) in expected["present"].as_str().unwrap().bytes().enumerate() {
            let read = array.to_vec::<f64>(&at(element));
            match present {
                b'1' => assert_eq!(read.unwrap(), [element as f64 + 1.0], "{name} {element}"),
                _ => assert!(is_virtual(&read.unwrap_err()), "{name} {element}"),
            }
        }
        let text = array
            .to_vec::<f64>(&[0..10, 0..14])
            .map_err(|error| error.to_string());
        match text {
            Ok(elements) => assert!(name.contains("all") && elements.len() == 140, "{name}"),
            Err(text) => {
                let (_, first) = operands.first().unwrap();
                assert!(text.contains(first), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_chunk_is_read_whole_or_refused() {
    for (name, expected) in manifest() {
        let frame = Frame::open(path(&name)).unwrap();
        let expected = expected["present"].as_str().unwrap().as_bytes();
        let mut present = 0;
        for number in 0..frame.chunks() {
            // One chunk, or two by two.
            let (row, column) = (number as usize / 2 * 6, number as usize % 2 * 8);
            let extent = match frame.chunks() {
                1 => (0..10, 0..14),
                _ => (row..(row + 6).min(10), column..(column + 8).min(14)),
            };
            let mut elements = extent
                .0
                .flat_map(|row| extent.1.clone().map(move |column| row * 14 + column));
            let is_there = elements.all(|element| expected[element] == b'1');
            present += u64::from(is_there);
            let len = frame.chunk(number).map(|data| data.len());
            let mut room = vec![0; frame.chunk_size() as usize];
            let read = [
                len.is_ok(),
                frame.read_chunk(number, &mut room).is_ok(),
                frame.compressed_chunk(number).is_ok(),
            ];
            assert_eq!(read, [is_there; 3], "{name} {number}");
            assert!(frame.chunk_header(number).is_ok(), "{name} {number}");
        }
        assert_eq!(frame.present_chunks(), present, "{name}");
        let report = frame.verify(|_| ());
        assert!(report.is_sound(), "{name}: {:?}", report.damages);
        let is_warned = report
            .warnings
            .iter()
            .any(|text| text.contains("not in the frame"));
        assert_eq!(
            is_warned,
            present < frame.chunks(),
            "{name}: {:?}",
            report.warnings
        );
    }
}

#[test]
fn a_frame_without_an_array_has_the_chunks_that_were_fetched() {
    let frame = Frame::open(path("proxy_chunks.b2frame")).unwrap();
    for number in 0..frame.chunks() {
        match frame.chunk(number) {
            Ok(data) => {
                let first = f64::from_le_bytes(*data.first_chunk().unwrap());
                assert_eq!((number, first), (1, 51.0));
            }
            Err(error) => assert!(number != 1 && is_virtual(&error), "{number}: {error}"),
        }
    }
    let mut eight = [0; 8];
    frame.read_range(1, 8, &mut eight).unwrap();
    assert_eq!(f64::from_le_bytes(eight), 52.0);
    assert!(is_virtual(&frame.read_range(0, 8, &mut eight).unwrap_err()));
}

#[test]
fn a_copy_has_elements_of_its_own_and_nothing_virtual() {
    for (name, user) in [("proxy_all.b2nd", &[][..]), ("remote_all.b2nd", &["unit"])] {
        let array = NdArray::open(path(name)).unwrap();
        let mut copy = array.like().unwrap().in_memory().unwrap();
        array.copy_to(&mut copy).unwrap();
        let copy = NdArray::from_bytes(copy.to_bytes().unwrap()).unwrap();
        let frame = copy.frame();
        assert!(frame.virtual_data().is_none(), "{name}");
        assert!(frame.vlmetalayers().eq(user.iter().copied()), "{name}");
        let whole = [0..10, 0..14];
        assert_eq!(
            copy.read_slice(&whole).unwrap(),
            array.read_slice(&whole).unwrap()
        );
        // The same bytes are the same frame.
        let frame = Frame::open(path(name)).unwrap();
        let same = Frame::from_bytes(frame.to_bytes().unwrap()).unwrap();
        assert_eq!(same.present_chunks(), 4, "{name}");
    }
    let array = NdArray::open(path("proxy_blocks.b2nd")).unwrap();
    let mut copy = array.like().unwrap().in_memory().unwrap();
    assert!(is_virtual(&array.copy_to(&mut copy).unwrap_err()));
}

#[test]
fn a_virtual_frame_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["expression.b2nd", "proxy_all.b2nd"] {
        let copy = folder.path().join(name);
        std::fs::copy(path(name), &copy).unwrap();
        let mut array = NdArray::edit(&copy).unwrap();
        let ones = 1f64.to_le_bytes();
        for error in [
            array.write_slice(&at(0), &ones).unwrap_err(),
            array.resize(&[20, 14]).unwrap_err(),
            array.set_vlmetalayer("unit", b"K").unwrap_err(),
        ] {
            assert_eq!(error.category(), Category::Unsupported, "{error}");
        }
        drop(array);
        assert_eq!(
            std::fs::read(&copy).unwrap(),
            std::fs::read(path(name)).unwrap()
        );
    }
}

#[test]
fn a_bitmap_of_another_length_counts_for_nothing() {
    for (bits, present) in [
        (&b"\xc4\x01\x03"[..], 2),
        (b"\xc4\x02\x03\x00", 0),
        (b"\xc0", 0),
        (b"", 0),
    ] {
        let mut array = NdArray::of_type::<f64>(&[800])
            .chunk_shape(&[100])
            .block_shape(&[50])
            .metalayer("proxy-source", b"\x80")
            .vlmetalayer("proxy-fetched", bits)
            .in_memory()
            .unwrap();
        let frame = Frame::from_bytes(array.to_bytes().unwrap()).unwrap();
        assert_eq!(
            (frame.chunks(), frame.present_chunks()),
            (8, present),
            "{bits:?}"
        );
        let error = frame.chunk(2).unwrap_err();
        assert!(error.to_string().contains("an unknown source"), "{error}");
    }
}
