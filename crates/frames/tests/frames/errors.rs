//! Tests of errors: the code, the message, the limit, the side and the file.

use crate::frame_parts::Parts;
use bloscpack::Options;
use bloscpack_error::{Category, Code, Error, Side};
use bloscpack_frames::{Frame, NdArray};
use bloscpack_wire::{Limit, Limits};
use std::io;
use std::path::Path;

fn io_kind(error: &Error) -> io::ErrorKind {
    match error.io_error() {
        Some(io) => io.kind(),
        None => panic!("{error} is not an I/O error"),
    }
}

/// An array of 2 x 2 chunks.
fn array() -> NdArray {
    let builder = NdArray::of_type::<u8>(&[20, 20]).chunk_shape(&[10, 10]);
    let mut array = builder.in_memory().unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(400).collect();
    array.write_slice(&[0..20, 0..20], &data).unwrap();
    array
}

#[test]
fn io_errors_name_the_side_and_the_path() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("array.b2nd");
    for (error, side) in [
        (Frame::open(&path).unwrap_err(), Side::Source),
        (Frame::edit(&path).unwrap_err(), Side::Target),
        (NdArray::open(&path).unwrap_err(), Side::Source),
    ] {
        assert_eq!(io_kind(&error), io::ErrorKind::NotFound);
        assert_eq!((error.side(), error.path()), (Some(side), Some(&*path)));
    }
    NdArray::of_type::<u8>(&[3]).create(&path).unwrap();
    let again = NdArray::of_type::<u8>(&[3]).create(&path).unwrap_err();
    assert_eq!(io_kind(&again), io::ErrorKind::AlreadyExists);
    assert_eq!(
        (again.side(), again.path()),
        (Some(Side::Target), Some(&*path))
    );
    let _editor = Frame::edit(&path).unwrap();
    let busy = Frame::edit(&path).unwrap_err();
    assert_eq!(io_kind(&busy), io::ErrorKind::ResourceBusy);
    assert_eq!(
        (busy.side(), busy.path()),
        (Some(Side::Target), Some(&*path))
    );
}

#[test]
fn errors_of_a_sparse_frame_name_the_file_in_it() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("sparse");
    let mut copy = array().like().unwrap().create_sparse(&path).unwrap();
    array().copy_to(&mut copy).unwrap();
    copy.flush().unwrap();
    drop(copy);
    let not_empty = NdArray::of_type::<u8>(&[3])
        .create_sparse(&path)
        .unwrap_err();
    assert_eq!(io_kind(&not_empty), io::ErrorKind::AlreadyExists);
    assert_eq!(not_empty.side(), Some(Side::Target));
    // Chunk 2, whatever the number of its file.
    let mut files: Vec<_> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|end| end == "chunk")
        })
        .collect();
    files.sort();
    std::fs::remove_file(path.join(&files[2])).unwrap();
    let array = NdArray::open(&path).unwrap();
    let error = array.frame().chunk(2).unwrap_err();
    assert_eq!(error.code(), Code::MissingFile);
    assert!(error.to_string().contains("chunk 2: "), "{error}");
    assert_eq!(error.path(), Some(Path::new(&files[2])));
    // A directory in its place cannot be read.
    std::fs::create_dir(path.join(&files[2])).unwrap();
    let error = NdArray::open(&path).unwrap().frame().chunk(2).unwrap_err();
    assert_eq!(error.category(), Category::Failed, "{error}");
    assert_eq!(
        (error.side(), error.path()),
        (Some(Side::Source), Some(Path::new(&files[2])))
    );
}

#[test]
fn limits_are_named() {
    let bytes = array().to_bytes().unwrap();
    let open = |limits| Frame::read_with(bytes.clone(), &Options::new().limits(limits));
    for (limits, limit, part) in [
        (Limits::new().metadata(96), Limit::Metadata, "frame header"),
        (Limits::new().offsets(31), Limit::Offsets, "frame index"),
        (Limits::new().total(399), Limit::Total, "frame header"),
        (Limits::new().chunk(99), Limit::Chunk, "chunk 1"),
    ] {
        let error = open(limits)
            .and_then(|frame| frame.chunk(1))
            .map(|_| ())
            .unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
        assert_eq!(error.limit(), Some(limit), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("raise")));
        assert_eq!((error.code(), error.part()), (Code::OverLimit, Some(part)));
    }
}

#[test]
fn wrong_use_is_told_apart() {
    let mut array = array();
    let bytes = array.to_bytes().unwrap();
    let out_of_bounds = array.read_slice(&[0..20, 10..21]).unwrap_err();
    assert_eq!(out_of_bounds.category(), Category::Usage);
    let message = out_of_bounds.to_string();
    assert!(message.contains("[20, 20]"), "{message}");
    let short = array.write_slice(&[0..2, 0..2], &[1, 2, 3]).unwrap_err();
    assert_eq!(short.category(), Category::Usage);
    assert_eq!(
        short.to_string(),
        "data of a slice: got 3 bytes, expected 4"
    );
    let wrong = array.to_vec::<f32>(&[0..2, 0..2]).unwrap_err();
    assert_eq!(wrong.code(), Code::WrongType);

    let mut read_only = NdArray::from_bytes(bytes).unwrap();
    let error = read_only.fill_slice(&[0..2, 0..2], &[1]).unwrap_err();
    assert_eq!(error.code(), Code::ReadOnly);
    assert!(error.hint().is_some());

    let frame = Frame::builder(1, 10).in_memory().unwrap();
    let no_chunk = frame.chunk(0).unwrap_err();
    assert_eq!(no_chunk.code(), Code::OutOfBounds);
    assert_eq!(no_chunk.to_string(), "no chunk 0: the frame has 0");
    assert_eq!(NdArray::of(frame).unwrap_err().code(), Code::NotAnArray);
}

#[test]
fn other_files_are_told_apart_from_damaged_frames() {
    let other = Frame::from_bytes(vec![7; 1000]).unwrap_err();
    assert_eq!(other.code(), Code::UnknownFormat);

    let bytes = array().to_bytes().unwrap();
    let cut = Frame::from_bytes(bytes[..bytes.len() - 1].to_vec()).unwrap_err();
    let (found, expected) = (bytes.len() - 1, bytes.len());
    assert_eq!(cut.code(), Code::CutShort);
    assert_eq!(
        cut.to_string(),
        format!("frame: cut short after {found} of {expected} bytes")
    );

    let temp = tempfile::tempdir().unwrap();
    let empty = Frame::open(temp.path()).unwrap_err();
    assert_eq!(empty.code(), Code::UnknownFormat);
    let path = temp.path().join("sparse");
    Frame::builder(1, 10).create_sparse(&path).unwrap();
    let alone = Frame::open(path.join("chunks.b2frame")).unwrap_err();
    assert_eq!(alone.code(), Code::Unsupported);
    assert!(alone.to_string().contains("sparse"), "{alone}");
    assert!(alone.hint().is_some_and(|hint| hint.contains("directory")));
}

/// A header that says one thing and a description that says another.
#[test]
fn damage_says_what_was_found_and_what_was_expected() {
    let mut parts = Parts::sound();
    parts.header.blocksize = 25;
    let error = parts.array().unwrap_err();
    assert_eq!(error.code(), Code::Metadata);
    assert_eq!(
        error.to_string(),
        "metalayer \"b2nd\": bytes of a block: found 25 in the frame header, expected 24 by the shapes"
    );
}

#[test]
fn a_copy_of_a_sealed_frame_has_no_fingerprint_of_other_bytes() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("frame");
    let mut frame = Frame::builder(4, 400).create(&path).unwrap();
    let noise = |seed: u32| (0..400u32).map(move |at| ((at * at).wrapping_mul(seed) >> 7) as u8);
    frame.append(&noise(3).collect::<Vec<u8>>()).unwrap();
    frame.append(&noise(5).collect::<Vec<u8>>()).unwrap();
    frame.flush().unwrap();
    // The bytes of the old chunk stay in the file.
    frame.replace(0, &noise(7).collect::<Vec<u8>>()).unwrap();
    frame.flush().unwrap();
    drop(frame);
    bloscpack_frames::seal(&path).unwrap();
    let sealed = Frame::open(&path).unwrap();
    sealed.check_fingerprint().unwrap();
    let copy = Frame::from_bytes(sealed.to_bytes().unwrap()).unwrap();
    let report = copy.verify(|_| ());
    assert!(report.is_sound(), "{:?}", report.damages);
}
