//! Tests of frames of real tools with a flipped bit, or cut.

use super::{BASE, Files, bounded};
use crate::counting::peak_of;
use crate::frame_parts::{numbers, options};
use crate::frames;
use crate::pick::pick;
use blosc1::{ChunkDecoder, Compressor, FilterPipeline, FilterStep};
use bloscpack_error::Category;
use bloscpack_frames::{Frame, FrameHeader, NdArray};
use testkit::effort;

#[test]
fn each_bit_of_real_frames_may_be_wrong() {
    let (mut flips, mut refused) = (0, 0);
    for frame in frames::chosen() {
        let whole = Files::of(&frame);
        for (number, bytes) in whole.each().enumerate() {
            let mut files = whole.clone();
            for bit in effort::sample(0..bytes.len() * 8, 11) {
                files.file(number)[bit / 8] ^= 1 << (bit % 8);
                let why = || format!("{}, file {number}, bit {bit}", frame.name());
                let seen = bounded(&files, &why);
                flips += 1;
                refused += usize::from(!seen.is_sound);
                files.file(number)[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
    println!("{flips} bits, {refused} refused");
    // There are no checksums, but there is structure.
    assert!(
        flips > effort::cases(60_000, 12) && refused > flips / 8,
        "{flips} {refused}"
    );
}

#[test]
fn real_frames_that_are_cut_are_refused() {
    let mut cuts = 0;
    for frame in frames::chosen() {
        let whole = Files::of(&frame);
        for (number, bytes) in whole.each().enumerate() {
            let mut files = whole.clone();
            for len in effort::sample((0..bytes.len()).rev(), 3) {
                files.file(number).truncate(len);
                let why = || format!("{}, file {number}, cut to {len}", frame.name());
                let opened = files.open();
                let is_outline = match &files {
                    Files::One(_) => true,
                    Files::Many(files) => files[number].0 == "chunks.b2frame",
                };
                match opened {
                    Err(error) if is_outline => {
                        let category = error.category();
                        let expected = [Category::CutShort, Category::Damaged];
                        // Fewer than ten bytes may be anything.
                        assert!(
                            expected.contains(&category) || len < 10,
                            "{}: {error}",
                            why()
                        );
                    }
                    Err(error) => panic!("{}: {error}", why()),
                    Ok(_) => {
                        let seen = bounded(&files, &why);
                        assert!(!is_outline && !seen.is_sound, "{}", why());
                    }
                }
                cuts += 1;
            }
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > effort::cases(8000, 4), "{cuts}");
}

/// Chunks of the real frames, out of them.
fn chunks() -> Vec<(String, Vec<u8>, usize)> {
    let mut chunks = Vec::new();
    for frame in frames::chosen() {
        let opened = Files::of(&frame).open().unwrap();
        for number in 0..opened.chunks() {
            let chunk = opened.compressed_chunk(number).unwrap();
            let len = opened.chunk(number).unwrap().len();
            chunks.push((format!("{}, chunk {number}", frame.name()), chunk, len));
        }
    }
    chunks
}

#[test]
fn chunks_of_real_frames_may_be_wrong_or_cut() {
    let mut cases = 0;
    for (name, chunk, len) in chunks() {
        let decode = |chunk: &[u8]| {
            let mut out = vec![0; len];
            let mut decoder = ChunkDecoder::with_max_block(1 << 28);
            let decoded = decoder.decode(chunk, &mut out).map(|_| ());
            let mut part = vec![0; len / 3];
            let read = decoder.decode_range(chunk, (len / 4) as u32, &mut part);
            if decoded.is_ok() {
                read.expect("all of it can be read");
                assert!(part == out[len / 4..][..part.len()]);
            }
            decoded
        };
        for bit in effort::sample(0..chunk.len() * 8, 11) {
            let mut wrong = chunk.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let (_, peak) = peak_of(|| decode(&wrong));
            assert!(peak <= BASE + 2 * len, "{name}, bit {bit}: {peak} bytes");
            cases += 1;
        }
        for cut in effort::sample(0..chunk.len(), 3) {
            assert!(decode(&chunk[..cut]).is_err(), "{name}, cut to {cut}");
            cases += 1;
        }
    }
    println!("{cases} cases");
    assert!(cases > effort::cases(20_000, 12), "{cases}");
}

/// Only some blocks of large chunks are fetched: whatever their heads say, a part has the same bytes as the whole
/// chunk.
#[test]
fn parts_of_wrong_chunks_are_what_the_whole_has() {
    let (mut flips, mut agreed, mut refused, mut alone) = (0, 0, 0, 0);
    let plain = FilterPipeline::default();
    let delta = FilterPipeline::new(&[FilterStep::Delta, FilterStep::Shuffle]).unwrap();
    for (compressor, filters, noise) in [
        (Compressor::Lz4, plain, false),
        (Compressor::Zstd, delta, false),
        (Compressor::Blosclz, delta, false),
        (Compressor::Lz4, plain, true),
    ] {
        let array = NdArray::builder(&[64, 300], 4)
            .chunk_shape(&[64, 250])
            .block_shape(&[8, 60])
            .compressor(compressor)
            .filters(filters);
        let mut array = array.options(options()).in_memory().unwrap();
        let elements = numbers(64 * 300, noise);
        array.write_slice(&[0..64, 0..300], &elements).unwrap();
        let bytes = array.to_bytes().unwrap();
        let header_len = FrameHeader::decode(&bytes).unwrap().encoded_len();
        assert!(array.frame().compressed_chunk(0).unwrap().len() > 17_000);
        let head = 32 + 4 * 40 + 64;
        let further = (0..1500usize).map(|step| head * 8 + step * 7919 * 3 % (16_000 * 8));
        for bit in effort::sample((0..head * 8).chain(further), 7) {
            let mut wrong = bytes.clone();
            wrong[header_len + bit / 8] ^= 1 << (bit % 8);
            let Ok(array) = Frame::read_with(wrong, &options()).and_then(NdArray::of) else {
                continue;
            };
            flips += 1;
            let whole = array.read_slice(&[0..64, 0..300]);
            for slice in [[0..1, 0..3], [9..10, 70..75], [62..64, 180..260]] {
                let part = array.read_slice(&slice);
                let mut expected = Vec::new();
                match (&whole, part) {
                    (Ok(whole), Ok(part)) => {
                        pick(&slice, &[64, 300], 4, 0, whole, &mut expected);
                        assert!(part == expected, "{compressor}, bit {bit}, {slice:?}");
                        agreed += 1;
                    }
                    // Blocks over one another may do for the whole, and not on their own.
                    (Ok(_), Err(_)) => alone += 1,
                    // The damage may be elsewhere.
                    (Err(_), Ok(part)) => assert_eq!(
                        part.len() as u64,
                        slice
                            .iter()
                            .map(|range| range.end - range.start)
                            .product::<u64>()
                            * 4
                    ),
                    (Err(_), Err(_)) => refused += 1,
                }
            }
        }
    }
    println!("{flips} flips, {agreed} parts read, {refused} refused, {alone} on their own");
    let least = effort::cases(1000, 10);
    assert!(flips > 10 * least && agreed > least && refused > least && alone < 200);
}
