//! Tests that damaged and hostile frames give an error or data, never a panic, a hang, or an allocation by a header's
//! word.

mod headers;
mod layers;
#[cfg(unix)]
mod on_disk;
mod places;
mod real;

use crate::counting::peak_of;
use crate::frame_parts::{options, store_of};
use crate::frames;
use crate::pick::pick;
use bloscpack_error::Result;
use bloscpack_frames::{Frame, NdArray};
use std::ops::Range;

/// Memory allowed in addition to the input and the output.
const BASE: usize = 64 << 20;

/// All files of a frame: one, or those of a sparse one.
#[derive(Clone)]
enum Files {
    One(Vec<u8>),
    Many(Vec<(String, Vec<u8>)>),
}

impl Files {
    fn of(frame: &frames::Frame) -> Self {
        if !frame.is_sparse() {
            return Self::One(frame.bytes());
        }
        let entries = std::fs::read_dir(&frame.root).unwrap();
        let mut files: Vec<(String, Vec<u8>)> = entries
            .map(|entry| {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                (name, std::fs::read(entry.path()).unwrap())
            })
            .collect();
        files.sort();
        Self::Many(files)
    }

    fn open(&self) -> Result<Frame> {
        match self {
            Self::One(bytes) => Frame::read_with(bytes.clone(), &options()),
            Self::Many(files) => Frame::open_store(store_of(files), &options()),
        }
    }

    fn len(&self) -> usize {
        self.each().map(|bytes| bytes.len()).sum()
    }

    fn each(&self) -> Box<dyn Iterator<Item = &Vec<u8>> + '_> {
        match self {
            Self::One(bytes) => Box::new(std::iter::once(bytes)),
            Self::Many(files) => Box::new(files.iter().map(|(_, bytes)| bytes)),
        }
    }

    fn file(&mut self, number: usize) -> &mut Vec<u8> {
        match self {
            Self::One(bytes) => bytes,
            Self::Many(files) => &mut files[number].1,
        }
    }
}

/// The result of reading everything.
struct Seen {
    /// Whether nothing was found to be wrong, and the elements of the array.
    is_sound: bool,
    elements: Option<Vec<u8>>,
    /// Bytes of what was decoded at once.
    decoded: usize,
}

/// Reads all there is in every way.
fn examine(opened: Result<Frame>) -> Seen {
    let mut seen = Seen {
        is_sound: false,
        elements: None,
        decoded: 0,
    };
    let Ok(frame) = opened else { return seen };
    let report = frame.verify(|_| {});
    let mut layers = 0;
    for name in frame.vlmetalayers() {
        layers += frame
            .vlmetalayer(name)
            .map_or(0, |value| value.unwrap().len());
    }
    seen.decoded = layers + frame.chunk_size() as usize;
    for number in 0..frame.chunks().min(30) {
        let (chunk, compressed) = (frame.chunk(number), frame.compressed_chunk(number));
        assert!(!report.is_sound() || chunk.is_ok() && compressed.is_ok());
    }
    let Ok(array) = NdArray::of(frame) else {
        return seen;
    };
    if array.nbytes() > 32 << 20 {
        return seen;
    }
    seen.decoded += array.nbytes() as usize;
    let shape = array.shape().to_vec();
    let whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
    let all = array.read_slice(&whole);
    let part: Vec<Range<u64>> = shape.iter().map(|len| len / 3..len - len / 4).collect();
    let some = array.read_slice(&part);
    if let Ok(all) = &all {
        let mut expected = Vec::new();
        let itemsize = array.itemsize() as usize;
        pick(&part, &shape, itemsize, 0, all, &mut expected);
        assert!(some.expect("all of it can be read") == expected);
    }
    seen.is_sound = report.is_sound() && all.is_ok();
    seen.elements = all.ok();
    seen
}

/// Examines within bounds of memory.
fn bounded(files: &Files, why: &dyn Fn() -> String) -> Seen {
    let (seen, peak) = peak_of(|| examine(files.open()));
    let most = BASE + 2 * (files.len() + seen.decoded);
    assert!(peak <= most, "{}: {peak} bytes, {most} at most", why());
    seen
}

const WHOLE: [Range<u64>; 2] = [0..6, 0..10];
