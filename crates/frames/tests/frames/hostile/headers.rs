//! Tests of headers with wrong shapes, lengths and numbers.

use super::{BASE, WHOLE, examine};
use crate::counting::peak_of;
use crate::frame_parts::{Parts, bomb, numbers, options};
use blosc1::ChunkDecoder;
use bloscpack_error::Category;
use bloscpack_frames::wire::ChunkPlace;
use bloscpack_frames::{Frame, Metalayers, NdArray};
use bloscpack_storage::Memory;
use bloscpack_wire::Limits;
use std::ffi::OsStr;

/// The positions of the parts of a description of two axes.
const SHAPE: [usize; 2] = [5, 14];

const CHUNK: [usize; 2] = [24, 29];

const BLOCK: [usize; 2] = [35, 40];

#[test]
fn what_is_put_together_again_is_sound() {
    let parts = Parts::sound();
    let array = parts.array().unwrap();
    assert!(array.read_slice(&WHOLE).unwrap() == numbers(60, true));
    assert!(array.frame().verify(|_| {}).is_sound());
    assert_eq!(parts.places().len(), 4);
}

#[test]
fn shapes_that_lie_are_refused() {
    let sound = Parts::sound();
    let mut cases = Vec::new();
    for at in SHAPE {
        for len in [0, -1, i64::MIN, i64::MAX, 1 << 40, 1 << 62, 60] {
            cases.push(sound.clone().with_meta(at, &len.to_be_bytes()));
        }
    }
    for at in CHUNK.into_iter().chain(BLOCK) {
        for len in [0, -1, i32::MIN, i32::MAX, 1 << 16, 1] {
            cases.push(sound.clone().with_meta(at, &len.to_be_bytes()));
        }
    }
    // Products that cannot be counted, in any of the three.
    let all = |ats: [usize; 2], bytes: &[u8]| {
        sound
            .clone()
            .with_meta(ats[0], bytes)
            .with_meta(ats[1], bytes)
    };
    cases.push(all(SHAPE, &(1i64 << 62).to_be_bytes()));
    cases.push(all(SHAPE, &(1i64 << 32).to_be_bytes()));
    cases.push(all(CHUNK, &i32::MAX.to_be_bytes()));
    cases.push(all(CHUNK, &(1i32 << 16).to_be_bytes()));
    cases.push(all(BLOCK, &i32::MAX.to_be_bytes()));
    for (number, parts) in cases.iter().enumerate() {
        let (opened, peak) = peak_of(|| parts.array());
        let error = opened.expect_err(&format!("case {number}"));
        let expected = [Category::Damaged, Category::Unsupported];
        assert!(
            expected.contains(&error.category()),
            "case {number}: {error}"
        );
        assert!(peak < 1 << 20, "case {number}: {peak} bytes");
        // As a frame without an array it can be read, but verification reports damage.
        let report = parts.frame().unwrap().verify(|_| {});
        assert_eq!(
            (report.is_sound(), report.chunks),
            (false, 4),
            "case {number}"
        );
    }
}

#[test]
fn numbers_of_a_header_that_lie_are_refused() {
    let sound = Parts::sound();
    let bytes = sound.bytes();
    // The positions of fields, and their lengths.
    for (at, len) in [
        (11, 4),
        (16, 8),
        (30, 8),
        (39, 8),
        (48, 4),
        (53, 4),
        (58, 4),
    ] {
        for value in [0, -1, i64::MIN, i64::MAX, 1, 0x7fff_ffff, 0x1000_0000_0000] {
            let mut wrong = bytes.clone();
            let value = value.to_be_bytes();
            let from = if len == 4 && value[0] == 0 { 4 } else { 0 };
            if wrong[at..at + len] == value[from..from + len] {
                continue;
            }
            wrong[at..at + len].copy_from_slice(&value[from..from + len]);
            let (seen, peak) = peak_of(|| examine(Frame::read_with(wrong, &options())));
            assert!(!seen.is_sound, "byte {at}, {value:02x?}");
            assert!(peak < BASE, "byte {at}, {value:02x?}: {peak} bytes");
        }
    }
}

/// A chunk that is only an index entry can have any length, and elements of any size.
#[test]
fn chunks_of_zeros_are_no_whole_number_of_elements() {
    for place in [ChunkPlace::Zeros, ChunkPlace::Uninit, ChunkPlace::Nan] {
        for typesize in [1, 4, 7, 253, 255, 256, 1 << 20] {
            let mut parts = Parts::sound().with_places(&[place; 4]);
            parts.header.metalayers = Metalayers::new();
            parts.header.typesize = typesize;
            let frame = parts.frame().unwrap();
            let made = frame.compressed_chunk(1);
            if place == ChunkPlace::Nan && typesize != 4 {
                assert_eq!(made.unwrap_err().category(), Category::Damaged);
                assert_eq!(frame.chunk(1).unwrap_err().category(), Category::Damaged);
                assert_eq!(frame.verify(|_| {}).damages.len(), 4);
                continue;
            }
            let mut out = vec![1; frame.chunk_size() as usize];
            ChunkDecoder::new()
                .decode(&made.unwrap(), &mut out)
                .unwrap();
            assert!(out == frame.chunk(1).unwrap(), "{place:?}, {typesize}");
            assert!(frame.verify(|_| {}).is_sound());
        }
    }
}

#[test]
fn chunks_of_nothing_are_bounded_by_the_limit() {
    let limits = Limits::new().chunk(64 << 20);
    let strict = options().limits(limits);
    // By blocks, of which a default reader takes 256 MiB, and by chunks.
    let array = bomb(None).array().unwrap();
    let (read, peak) = peak_of(|| array.read_slice(&[5..6]));
    assert!(peak < BASE, "{peak} bytes");
    assert!(read.is_ok() || read.is_err_and(|error| error.category() == Category::OverLimit));
    for place in [None, Some(ChunkPlace::Zeros), Some(ChunkPlace::Uninit)] {
        let memory = Memory::from([("a", bomb(place).bytes())]);
        let frame = Frame::edit_in(memory, OsStr::new("a"), &strict).unwrap();
        let mut array = NdArray::of(frame).unwrap();
        let (error, peak) = peak_of(|| array.frame().chunk(0).unwrap_err());
        assert_eq!(error.category(), Category::OverLimit);
        assert!(peak < 1 << 20, "{peak} bytes");
        let (written, peak) = peak_of(|| array.write_slice(&[5..6], &[1, 2, 3, 4]));
        assert_eq!(
            written.unwrap_err().category(),
            Category::OverLimit,
            "{place:?}"
        );
        assert!(peak < 1 << 20, "{peak} bytes");
        let (_, peak) = peak_of(|| array.read_slice(&[5..6]));
        assert!(peak < BASE, "{peak} bytes");
    }
}

#[test]
fn a_frame_behind_padding_is_not_cut_off() {
    let one = Parts::sound().bytes();
    let edit = |bytes| {
        let memory = Memory::from([("a", bytes)]);
        Frame::edit_in(memory, OsStr::new("a"), &options())
    };
    for padding in [0, 1, 16, 5000, (1 << 20) - 5, 1 << 20] {
        for byte in [0, 0xee] {
            let error = edit([&one[..], &vec![byte; padding], &one].concat()).unwrap_err();
            assert_eq!(error.category(), Category::Unsupported, "{padding}");
            let byte = format!("byte {}", one.len() + padding);
            assert!(error.to_string().contains(&byte), "{error}");
            // Remnants of an unfinished change.
            assert!(edit([&one[..], &vec![2; padding]].concat()).is_ok());
        }
    }
}
