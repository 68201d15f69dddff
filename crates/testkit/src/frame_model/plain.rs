//! A frame without an array, and a vector of vectors.

use super::Dice;
use super::making::{element, elements};
use bloscpack::blosc::{Blosc2Encoder, Blosc2Settings, ChunkEncoder, ChunkSettings};
use bloscpack::storage::{Memory, Snapshot};
use bloscpack::{Category, Options};
use bloscpack_open::frames::Frame;
use std::ffi::OsStr;

const NAME: &str = "frame";

enum Home {
    Memory(Memory),
    Store(Memory),
}

impl Home {
    fn edit(&self, options: &Options) -> Frame {
        let frame = match self {
            Self::Memory(memory) => Frame::edit_in(memory.clone(), OsStr::new(NAME), options),
            Self::Store(store) => Frame::edit_store(store.clone(), options),
        };
        frame.unwrap()
    }

    fn read(&self, options: &Options) -> Frame {
        let frame = match self {
            Self::Memory(memory) => Frame::read_with(
                Snapshot::open_in(memory, OsStr::new(NAME)).unwrap(),
                options,
            ),
            Self::Store(store) => Frame::open_store(store.clone(), options),
        };
        frame.unwrap()
    }
}

/// Data of `len` bytes.
fn data(dice: &mut Dice<'_>, len: usize) -> Vec<u8> {
    elements(dice, &[len]).iter().map(|cell| cell[0]).collect()
}

fn check(frame: &Frame, chunks: &[Vec<u8>]) {
    assert_eq!(frame.chunks(), chunks.len() as u64);
    let len: usize = chunks.iter().map(Vec::len).sum();
    assert_eq!(frame.content_len(), len as u64);
    for (number, chunk) in chunks.iter().enumerate() {
        assert!(
            frame.chunk(number as u64).unwrap() == *chunk,
            "chunk {number}"
        );
    }
}

/// Parts of chunks are equal to the chunks there, and chunks decode to their content.
fn check_parts(frame: &Frame, chunks: &[Vec<u8>], dice: &mut Dice<'_>) {
    for (number, chunk) in chunks.iter().enumerate() {
        let start = dice.below(chunk.len() + 1);
        let mut out = vec![1; dice.below(chunk.len() - start + 1)];
        frame
            .read_range(number as u64, start as u32, &mut out)
            .unwrap();
        assert!(
            out == chunk[start..start + out.len()],
            "chunk {number}, from {start} on"
        );
        let compressed = frame.compressed_chunk(number as u64).unwrap();
        let mut decoded = vec![1; chunk.len()];
        let decoder = &mut bloscpack::blosc::ChunkDecoder::with_max_block(1 << 20);
        decoder.decode(&compressed, &mut decoded).unwrap();
        assert!(decoded == *chunk, "chunk {number}, by its compressed bytes");
    }
}

/// Makes a frame according to the first bytes, then performs each of the steps.
pub fn run(making: &[u8], steps: &[impl AsRef<[u8]>]) {
    let dice = &mut Dice::new(making);
    let typesize = 1 + dice.below(17) as u8;
    let size = 1 + dice.below(2000);
    let mut builder = Frame::builder(typesize.into(), size as u32);
    if dice.below(2) == 0 {
        builder = builder.blocksize(1 + dice.below(size + 20) as u32);
    }
    let options = Options::new().threads(1 + dice.below(2));
    builder = builder.options(options.clone());
    let (home, frame) = match dice.below(2) {
        0 => {
            let memory = Memory::new();
            let frame = builder.create_in(memory.clone(), OsStr::new(NAME));
            (Home::Memory(memory), frame)
        }
        _ => {
            let store = Memory::new();
            (Home::Store(store.clone()), builder.create_in_store(store))
        }
    };
    let (mut frame, mut now) = (frame.unwrap(), Vec::<Vec<u8>>::new());
    let mut saved = now.clone();
    for step in steps {
        let dice = &mut Dice::new(step.as_ref());
        match dice.below(10) {
            0..=3 => change(&mut frame, &mut now, size, dice),
            4 => append_compressed(&mut frame, &mut now, typesize, size, dice),
            5 => {
                frame.flush().unwrap();
                saved.clone_from(&now);
            }
            6 => {
                check(&home.read(&options), &saved);
                drop(frame);
                check(&home.read(&options), &saved);
                frame = home.edit(&options);
                now.clone_from(&saved);
            }
            7 => {
                let copy = Frame::from_bytes(frame.to_bytes().unwrap()).unwrap();
                check(&copy, &now);
                assert!(copy.verify(|_| {}).is_sound());
            }
            8 => check_parts(&frame, &now, dice),
            _ => {
                let short = size.saturating_sub(1 + dice.below(size));
                let mut others = vec![frame.insert(now.len() as u64 + 1, &vec![1; size])];
                others.push(frame.append(&vec![1; size + 1]));
                others.push(frame.append(&[]));
                others.push(frame.remove(now.len() as u64));
                others.push(frame.read_range(0, size as u32, &mut [1, 2]));
                if short > 0 && !now.is_empty() {
                    others.push(frame.insert(0, &vec![1; short]));
                }
                for refused in others {
                    assert_eq!(refused.unwrap_err().category(), Category::Usage);
                }
            }
        }
        check(&frame, &now);
    }
    frame.flush().unwrap();
    let report = frame.verify(|_| {});
    assert!(report.is_sound(), "{:?}", report.damages);
    drop(frame);
    check(&home.read(&options), &now);
}

/// The length of a new last chunk; `None` if there is no room for one.
fn room(now: &[Vec<u8>], size: usize, dice: &mut Dice<'_>) -> Option<usize> {
    let is_full = now.last().is_none_or(|last| last.len() == size);
    is_full.then(|| match dice.below(4) {
        0 => 1 + dice.below(size),
        _ => size,
    })
}

fn change(frame: &mut Frame, now: &mut Vec<Vec<u8>>, size: usize, dice: &mut Dice<'_>) {
    let number = dice.below(now.len() + 1);
    match dice.below(4) {
        0 => {
            let Some(len) = room(now, size, dice) else {
                let error = frame.append(&vec![1; size]).unwrap_err();
                assert_eq!(error.category(), Category::Usage);
                return;
            };
            let data = data(dice, len);
            frame.append(&data).unwrap();
            now.push(data);
        }
        1 if number < now.len() => {
            let data = data(dice, now[number].len());
            frame.replace(number as u64, &data).unwrap();
            now[number] = data;
        }
        2 if number < now.len() => {
            frame.remove(number as u64).unwrap();
            now.remove(number);
        }
        _ => {
            let is_last = number == now.len();
            let len = if is_last {
                room(now, size, dice)
            } else {
                Some(size)
            };
            let Some(len) = len else { return };
            let data = data(dice, len);
            frame.insert(number as u64, &data).unwrap();
            now.insert(number, data);
        }
    }
}

fn append_compressed(
    frame: &mut Frame,
    now: &mut Vec<Vec<u8>>,
    typesize: u8,
    size: usize,
    dice: &mut Dice<'_>,
) {
    let Some(len) = room(now, size, dice) else {
        return;
    };
    let data = data(dice, len);
    let mut chunk = Vec::new();
    let _ = element(dice);
    match dice.below(2) {
        0 => {
            let settings = Blosc2Settings::default().typesize(typesize);
            let mut encoder = Blosc2Encoder::new(settings).unwrap();
            encoder.encode(&data, &mut chunk).unwrap();
        }
        _ => {
            let settings = ChunkSettings::default().typesize(typesize);
            let mut encoder = ChunkEncoder::new(settings).unwrap();
            encoder.encode(&data, &mut chunk).unwrap();
        }
    }
    frame.append_compressed(&chunk).unwrap();
    now.push(data);
}
