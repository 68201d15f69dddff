//! Tests of wrong indexes, and of invalid chunks.

use super::{BASE, WHOLE};
use crate::counting::peak_of;
use crate::frame_parts::{Parts, encoded, index, numbers, options, sparse};
use crate::pick::pick;
use blosc1::{ChunkDecoder, MAX_NBYTES, SpecialValue, special_chunk};
use bloscpack_error::{Category, Result};
use bloscpack_frames::wire::ChunkPlace;
use bloscpack_frames::{Frame, Metalayers, NdArray};
use bloscpack_storage::Memory;
use bloscpack_wire::Limits;
use std::ffi::OsStr;

#[test]
fn an_index_of_nothing_is_bounded_by_the_limit() {
    for chunks in [1u64 << 21, 30 << 20, 40 << 20, (1 << 28) - 20] {
        let mut parts = Parts::sound();
        parts.header.metalayers = Metalayers::new();
        parts.header.content_len = chunks * u64::from(parts.header.chunk_size.unwrap());
        let zeros = ChunkPlace::Zeros.encode().unwrap().to_le_bytes();
        let len = u32::try_from(chunks * 8).unwrap();
        parts.index = special_chunk(SpecialValue::Value(&zeros), len, 8, 1 << 16).unwrap();
        assert_eq!(parts.index.len(), 40);
        let strict = options().limits(Limits::new().offsets(20 << 20));
        let (opened, peak) = peak_of(|| Frame::read_with(parts.bytes(), &strict));
        if chunks <= 20 << 17 {
            assert_eq!(opened.unwrap().chunks(), chunks)
        } else {
            assert_eq!(opened.unwrap_err().category(), Category::OverLimit)
        }
        assert!(peak <= BASE, "{chunks} chunks: {peak} bytes");
        if chunks * 8 > Limits::default().offsets {
            assert_eq!(parts.frame().unwrap_err().category(), Category::OverLimit);
        }
    }
}

#[test]
fn places_that_lie_are_refused() {
    let sound = Parts::sound();
    let places: Vec<ChunkPlace> = sound.places().into_iter().map(ChunkPlace::At).collect();
    let end = sound.chunks.len() as u64;
    let whole = sound.array().unwrap().read_slice(&WHOLE).unwrap();
    // Outside, in the index itself, in the trailer, torn at the end, far away.
    for wrong in [
        end,
        end + 32,
        end + 100,
        end - 10,
        end - 1,
        1 << 40,
        i64::MAX as u64,
    ] {
        let mut wrongly = places.clone();
        wrongly[1] = ChunkPlace::At(wrong);
        let array = sound.clone().with_places(&wrongly).array().unwrap();
        let error = array.read_slice(&WHOLE).unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{wrong}: {error}");
        assert!(error.to_string().contains("chunk"), "{error}");
        assert!(array.read_slice(&[0..3, 0..5]).is_ok());
        assert!(!array.frame().verify(|_| {}).is_sound());
    }
    // Entries in any order are accepted.
    let mut turned = places.clone();
    turned.reverse();
    let array = sound.clone().with_places(&turned).array().unwrap();
    assert!(array.frame().verify(|_| {}).is_sound());
    let first = array.read_slice(&[0..3, 0..5]).unwrap();
    let mut expected = Vec::new();
    pick(&[3..6, 5..10], &[6, 10], 4, 0, &whole, &mut expected);
    assert!(first == expected);
    // In the middle of another one, and twice at one place.
    for wrong in [ChunkPlace::At(1), places[0]] {
        let mut wrongly = places.clone();
        wrongly[1] = wrong;
        let array = sound.clone().with_places(&wrongly).array().unwrap();
        assert!(!array.frame().verify(|_| {}).is_sound(), "{wrong:?}");
    }
    // Invalid entries.
    for entry in [
        -1i64,
        i64::MIN,
        -2,
        0x83 << 56,
        0x80 << 56,
        (0x81 << 56) + 1,
    ] {
        let mut raw = vec![0; 32];
        ChunkDecoder::new().decode(&sound.index, &mut raw).unwrap();
        raw[8..16].copy_from_slice(&entry.to_le_bytes());
        let mut parts = sound.clone();
        parts.index = index(&raw);
        let error = parts.frame().unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{entry:x}: {error}");
    }
    // Entries too few and too many.
    for len in [24, 40, 31, 0] {
        let mut parts = sound.clone();
        parts.index = index(&vec![0; len]);
        let error = parts.frame().unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{len}: {error}");
    }
}

#[test]
fn chunks_that_are_not_what_the_header_says_are_refused() {
    let sound = Parts::sound();
    let size = sound.header.chunk_size.unwrap();
    let blocksize = sound.header.blocksize;
    let data = numbers(size as usize / 4, true);
    let with_chunk = |chunk: Vec<u8>| {
        let places: Vec<ChunkPlace> = sound.places().into_iter().map(ChunkPlace::At).collect();
        let mut places = places;
        places[2] = ChunkPlace::At(sound.chunks.len() as u64);
        let mut parts = sound.clone().with_places(&places);
        parts.chunks.extend_from_slice(&chunk);
        parts
    };
    // As long as it has to be, in the right blocks: taken.
    let parts = with_chunk(encoded(&data, 4, Some(blocksize)));
    assert!(parts.array().unwrap().read_slice(&WHOLE).is_ok());
    for len in [size - 4, size + 4, 4, 0, MAX_NBYTES / 4 * 4] {
        let chunk = special_chunk(SpecialValue::Zeros, len, 4, blocksize).unwrap();
        let mut array = with_chunk(chunk).array().unwrap();
        let (read, peak) = peak_of(|| array.read_slice(&WHOLE));
        let error = read.unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{len}: {error}");
        assert!(error.to_string().contains("chunk 2"), "{error}");
        assert!(array.frame().chunk(2).is_err() && peak < 1 << 20);
        assert!(array.to_bytes().is_err());
    }
    // Other blocks than the array's: no frame minds, but the array does.
    for blocks in [blocksize * 2, blocksize - 4, 4] {
        let array = with_chunk(encoded(&data, 4, Some(blocks))).array().unwrap();
        assert!(array.frame().chunk(2).unwrap() == data);
        let error = array.read_slice(&WHOLE).unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{blocks}: {error}");
    }
}

#[test]
fn chunks_in_one_place_are_changed_on_their_own() {
    let sound = Parts::sound();
    let whole = sound.array().unwrap().read_slice(&WHOLE).unwrap();
    let mut first = Vec::new();
    pick(&[0..3, 0..5], &[6, 10], 4, 0, &whole, &mut first);
    let mut places: Vec<ChunkPlace> = sound.places().into_iter().map(ChunkPlace::At).collect();
    places[1] = places[0];
    let contiguous = sound.with_places(&places).bytes();
    let memory = Memory::from([("a", contiguous.clone())]);
    let store = sparse(&contiguous);
    let edits: [Box<dyn Fn() -> Result<Frame>>; 2] = [
        Box::new(|| Frame::edit_in(memory.clone(), OsStr::new("a"), &options())),
        Box::new(|| Frame::edit_store(store.clone(), &options())),
    ];
    for edit in edits {
        for round in 0..4u8 {
            let mut array = NdArray::of(edit().unwrap()).unwrap();
            array.fill_slice(&[0..3, 0..5], &[round, 1, 2, 3]).unwrap();
            array.flush().unwrap();
            drop(array);
            let array = NdArray::of(edit().unwrap()).unwrap();
            assert!(
                array.read_slice(&[0..3, 5..10]).unwrap() == first,
                "round {round}"
            );
            let filled = array.read_slice(&[0..3, 0..5]).unwrap();
            assert!(filled == [round, 1, 2, 3].repeat(15));
            assert!(array.frame().verify(|_| {}).is_sound());
        }
    }
}

/// A frame of chunks of 60 bytes at these places, without an array.
fn plain(chunks: Vec<u8>, places: &[ChunkPlace]) -> Parts {
    let mut parts = Parts::sound().with_places(places);
    parts.header.metalayers = Metalayers::new();
    (parts.header.chunk_size, parts.header.blocksize) = (Some(60), 60);
    parts.header.content_len = 60 * places.len() as u64;
    parts.chunks = chunks;
    parts
}

/// A chunk of 60 bytes in one block, whose stream is `start` bytes from here.
fn head(start: u32, ctbytes: u32) -> Vec<u8> {
    let mut head = vec![2, 1, 0x10, 4];
    for word in [60, 60, ctbytes, start] {
        head.extend(u32::to_le_bytes(word));
    }
    head
}

/// Many entries may point to one chunk, each of which would read all of it.
#[test]
fn chunks_much_longer_than_their_data_are_refused() {
    for (len, is_taken) in [(84, true), (92, true), (1000, false), (1 << 20, false)] {
        let mut chunk = head(20, len);
        chunk.extend(60u32.to_le_bytes());
        chunk.resize(len as usize, 7);
        let frame = plain(chunk, &[ChunkPlace::At(0); 100]).frame().unwrap();
        let mut some = [0; 30];
        let all = frame.chunk(5);
        let part = frame.read_range(5, 20, &mut some);
        let stored = frame.compressed_chunk(5);
        assert_eq!(
            [all.is_ok(), part.is_ok(), stored.is_ok()],
            [is_taken; 3],
            "{len}"
        );
        match all {
            Ok(data) => assert_eq!((data, some), (vec![7; 60], [7; 30])),
            Err(error) => assert_eq!(error.category(), Category::Damaged, "{error}"),
        }
        assert!(is_taken || !frame.verify(|_| {}).is_sound(), "{len}");
    }
}

/// Chunks that share their bytes would become more than the file has when each gets its own.
#[test]
fn chunks_in_one_another_are_not_written_anew() {
    let (count, end) = (8, 8 * 20 + 64);
    let heads = (0..count).map(|number| head(20 * (count - number), end - 20 * number));
    let mut chunks: Vec<u8> = heads.flatten().collect();
    chunks.extend(60u32.to_le_bytes());
    chunks.resize(end as usize, 7);
    let places: Vec<_> = (0..u64::from(count))
        .map(|number| ChunkPlace::At(20 * number))
        .collect();
    let bytes = plain(chunks, &places).bytes();
    let frame = Frame::read_with(bytes.clone(), &options()).unwrap();
    assert!((0..8).all(|number| frame.chunk(number).unwrap() == [7; 60]));
    let error = frame.to_bytes().unwrap_err();
    assert_eq!(error.category(), Category::Damaged, "{error}");
    let memory = Memory::from([("a", bytes)]);
    let mut frame = Frame::edit_in(memory, OsStr::new("a"), &options()).unwrap();
    frame.set_metalayer("new", vec![1; 100]).unwrap();
    let error = frame.flush().unwrap_err();
    assert_eq!(error.category(), Category::Damaged, "{error}");
}

/// An index of 32 or 40 bytes may have any number of entries.
#[test]
fn an_index_of_one_value_takes_no_memory_beside_its_places() {
    let value = |place: ChunkPlace| place.encode().unwrap().to_le_bytes();
    let of = |place, chunks: u32| {
        let mut parts = plain(Parts::sound().chunks, &[]);
        parts.header.content_len = u64::from(chunks) * 60;
        let value = value(place);
        parts.index = special_chunk(SpecialValue::Value(&value), chunks * 8, 8, 1 << 16).unwrap();
        parts
    };
    let chunks = 30 << 20;
    for place in [ChunkPlace::At(0), ChunkPlace::At(20)] {
        let (opened, peak) = peak_of(|| of(place, chunks).frame());
        let error = opened.unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{error}");
        assert!(peak < 1 << 20, "{peak} bytes");
    }
    let chunks = 2 << 20;
    for place in [ChunkPlace::Zeros, ChunkPlace::Nan, ChunkPlace::Uninit] {
        let (opened, peak) = peak_of(|| of(place, chunks).frame());
        assert_eq!(opened.unwrap().chunks(), u64::from(chunks));
        assert!(peak < (16 * chunks + (1 << 20)) as usize, "{peak} bytes");
    }
}
