//! Any bytes as a frame give an error or data, never a panic, and reading in parts gives the same as reading the
//! whole.

use bloscpack::{Category, Code, Limits, Options};
use bloscpack_open::frames::{Frame, NdArray};
use std::ops::Range;

use testkit::pick;

use pick::pick;

const LIMITS: Limits = Limits::new()
    .chunk(1 << 20)
    .block(1 << 18)
    .metadata(1 << 16)
    .offsets(1 << 16);

/// More chunks, and more bytes, are not worth the time.
const MOST: u64 = 64;
const ENOUGH: u64 = 4 << 20;

fn open(input: &[u8]) -> bloscpack::Result<Frame> {
    let options = Options::new().threads(1).limits(LIMITS);
    Frame::read_with(input.to_vec(), &options)
}

/// Chunks, and parts of them.
fn chunks(frame: &Frame, choice: usize) {
    for number in 0..frame.chunks().min(MOST) {
        let chunk = frame.chunk(number);
        let compressed = frame.compressed_chunk(number);
        let len = chunk.as_ref().map_or(64, Vec::len);
        let start = choice % (len + 1);
        let mut part = vec![0; (choice / 7) % (len - start + 1)];
        let read = frame.read_range(number, start as u32, &mut part);
        let Ok(chunk) = chunk else { continue };
        if let Err(error) = compressed {
            // An index entry may describe a chunk that cannot exist as bytes.
            assert_eq!(error.category(), Category::Damaged, "{error}");
        }
        // Blocks over one another may do for the whole, and not on their own.
        if read.is_ok() {
            assert!(part == chunk[start..start + part.len()]);
        }
    }
}

fn array(array: &mut NdArray, choice: usize) {
    let shape = array.shape().to_vec();
    let whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
    let slice: Vec<Range<u64>> = shape
        .iter()
        .enumerate()
        .map(|(axis, len)| {
            let choice = (choice >> axis) as u64;
            let start = choice.checked_rem(*len).unwrap_or(0);
            start..(start + 1 + choice / 5 % 4).min(*len)
        })
        .collect();
    let part = match slice
        .iter()
        .map(|range| range.end - range.start)
        .product::<u64>()
    {
        0..=100_000 => Some(array.read_slice(&slice)),
        _ => None,
    };
    if array.nbytes() > ENOUGH {
        return;
    }
    let all = array.read_slice(&whole);
    if let (Ok(all), Some(Ok(part))) = (&all, &part) {
        let mut expected = Vec::new();
        pick(
            &slice,
            &shape,
            array.itemsize() as usize,
            0,
            all,
            &mut expected,
        );
        assert!(*part == expected, "{slice:?}");
    }
    if array.frame().chunks() <= MOST {
        let bytes = array.to_bytes();
        if let Ok(all) = all
            && array.frame().verify(|_| {}).is_sound()
        {
            let copy = open(&bytes.expect("it is sound"))
                .and_then(NdArray::of)
                .expect("a copy");
            assert!(copy.read_slice(&whole).expect("a copy") == all);
        }
    }
}

/// Whether a chunk is elsewhere, as those of a proxy.
fn is_absent(error: &bloscpack::Error) -> bool {
    error.code() == Code::NotStored
}

pub fn check(input: &[u8]) {
    let Ok(frame) = open(input) else { return };
    let choice = input.iter().fold(0usize, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
    }) >> 8;
    let names: Vec<String> = frame.vlmetalayers().map(str::to_owned).collect();
    for name in names.iter().take(20) {
        let _ = frame.vlmetalayer(name);
    }
    if frame.chunks() <= MOST * 16 {
        let report = frame.verify(|_| {});
        if report.is_sound() {
            let is_whole = frame.present_chunks() == frame.chunks();
            for number in 0..frame.chunks().min(MOST) {
                match frame.chunk(number) {
                    Err(error) if !is_whole => assert!(is_absent(&error), "{error:?}"),
                    chunk => drop(chunk.expect("it is sound")),
                }
            }
            for name in &names {
                frame
                    .vlmetalayer(name)
                    .expect("it is sound")
                    .expect("it is there");
            }
        }
    }
    chunks(&frame, choice);
    if let Ok(mut found) = NdArray::of(frame) {
        array(&mut found, choice);
    }
}
