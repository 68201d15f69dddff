//! Frames that are damaged or mean harm: an error or data, never a panic, a hang, or memory by a header's word.

use crate::counting::peak_of;
use crate::frame_parts::{Parts, bomb, encoded, index, numbers, options, sparse, store_of};
use crate::frames;
use crate::pick::pick;
use bloscpack::blosc::{
    ChunkDecoder, Compressor, FilterPipeline, FilterStep, MAX_NBYTES, SpecialValue, special_chunk,
};
use bloscpack::frame::{Frame, FrameHeader, Metalayers, NdArray};
use bloscpack::storage::Memory;
use bloscpack::wire::frame::ChunkPlace;
use bloscpack::{Category, Limits, Result};
use std::ffi::OsStr;
use std::ops::Range;

/// Memory for anything, besides what is there and what comes of it.
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
            Self::One(bytes) => options().read(bytes.clone()),
            Self::Many(files) => options().open_store(store_of(files)),
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

/// What came of reading everything.
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

#[test]
fn each_bit_of_real_frames_may_be_wrong() {
    let (mut flips, mut refused) = (0, 0);
    for frame in frames::chosen() {
        let whole = Files::of(&frame);
        for (number, bytes) in whole.each().enumerate() {
            let mut files = whole.clone();
            for bit in 0..bytes.len() * 8 {
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
    assert!(flips > 60_000 && refused > flips / 8, "{flips} {refused}");
}

#[test]
fn real_frames_that_are_cut_are_refused() {
    let mut cuts = 0;
    for frame in frames::chosen() {
        let whole = Files::of(&frame);
        for (number, bytes) in whole.each().enumerate() {
            let mut files = whole.clone();
            for len in (0..bytes.len()).rev() {
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
    assert!(cuts > 8000, "{cuts}");
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
        for bit in 0..chunk.len() * 8 {
            let mut wrong = chunk.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let (_, peak) = peak_of(|| decode(&wrong));
            assert!(peak <= BASE + 2 * len, "{name}, bit {bit}: {peak} bytes");
            cases += 1;
        }
        for cut in 0..chunk.len() {
            assert!(decode(&chunk[..cut]).is_err(), "{name}, cut to {cut}");
            cases += 1;
        }
    }
    println!("{cases} cases");
    assert!(cases > 20_000, "{cases}");
}

/// Of large chunks only some blocks are fetched: whatever their heads say, what is read of them is what the whole has there.
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
        for bit in (0..head * 8).chain(further) {
            let mut wrong = bytes.clone();
            wrong[header_len + bit / 8] ^= 1 << (bit % 8);
            let Ok(array) = options().read(wrong).and_then(NdArray::of) else {
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
                    // What is wrong may be elsewhere.
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
    assert!(flips > 10_000 && agreed > 1000 && refused > 1000 && alone < 200);
}

const WHOLE: [Range<u64>; 2] = [0..6, 0..10];
/// Where the parts of a description of two axes lie.
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
        // As a frame without an array it can be read, and is told to be wrong.
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
    // Where fields lie, and their lengths.
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
            let (seen, peak) = peak_of(|| examine(options().read(wrong)));
            assert!(!seen.is_sound, "byte {at}, {value:02x?}");
            assert!(peak < BASE, "byte {at}, {value:02x?}: {peak} bytes");
        }
    }
}

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
        let strict = options().limits(Limits {
            offsets: 20 << 20,
            ..Limits::default()
        });
        let (opened, peak) = peak_of(|| strict.read(parts.bytes()));
        match chunks <= 20 << 17 {
            true => assert_eq!(opened.unwrap().chunks(), chunks),
            false => assert_eq!(opened.unwrap_err().category(), Category::OverLimit),
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
    // In any order they are what they are.
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
    // What no entry can be.
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
        Box::new(|| options().edit_in(memory.clone(), OsStr::new("a"))),
        Box::new(|| options().edit_store(store.clone())),
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

#[test]
fn trailers_that_lie_are_refused() {
    let bytes = Parts::sound().bytes();
    let at = bytes.len() - 22;
    let len = bytes.len() as u32;
    for wrong in [
        0,
        1,
        34,
        35,
        len - 10,
        len - 100,
        len,
        len + 1,
        u32::MAX,
        1 << 31,
    ] {
        let mut wrongly = bytes.clone();
        wrongly[at..at + 4].copy_from_slice(&wrong.to_be_bytes());
        let (opened, peak) = peak_of(|| options().read(wrongly));
        assert!(opened.is_err() && peak < 1 << 20, "{wrong}: {peak} bytes");
    }
}

#[test]
fn metadata_of_nothing_is_bounded_by_the_limit() {
    let mut parts = Parts::sound();
    let chunk = special_chunk(SpecialValue::Zeros, MAX_NBYTES, 1, 0).unwrap();
    parts.trailer.vlmetalayers.set("bomb", chunk).unwrap();
    let array = parts.array().unwrap();
    let frame = array.frame();
    let (read, peak) = peak_of(|| frame.vlmetalayer("bomb"));
    assert_eq!(read.unwrap_err().category(), Category::OverLimit);
    assert!(peak < 1 << 20, "{peak} bytes");
    assert_eq!(frame.vlmetalayer("note").unwrap().unwrap(), b"sound");
    assert!(!frame.verify(|_| {}).is_sound());
    assert_eq!(array.like().unwrap_err().category(), Category::OverLimit);
    // No chunk at all, and one that is cut.
    for wrong in [&b""[..], b"metres", &[0; 16], &[5; 40]] {
        let mut parts = Parts::sound();
        parts
            .trailer
            .vlmetalayers
            .set("bomb", wrong.to_vec())
            .unwrap();
        let error = parts.frame().unwrap().vlmetalayer("bomb").unwrap_err();
        assert!(error.to_string().contains("bomb"), "{error}");
    }
}

/// More layers than there is room for are refused at once, and not by the flush.
#[test]
fn layers_are_counted_when_they_are_set() {
    let mut frame = Frame::builder(1, 10).in_memory().unwrap();
    for number in 0..16 {
        frame.set_metalayer(&format!("{number}"), vec![1]).unwrap();
    }
    let error = frame.set_metalayer("16", vec![1]).unwrap_err();
    assert_eq!(error.category(), Category::Usage);
    frame.set_metalayer("15", vec![2; 9]).unwrap();
    let (mut count, mut error) = (0, None);
    while error.is_none() {
        let name = format!("{count:031}");
        error = frame.set_vlmetalayer(&name, b"").err();
        count += 1;
    }
    assert_eq!(error.unwrap().category(), Category::Usage);
    assert_eq!(count, 65_529 / 37 + 1);
    frame.set_vlmetalayer(&format!("{:031}", 7), b"7").unwrap();
    frame.flush().unwrap();
    let frame = Frame::from_bytes(frame.to_bytes().unwrap()).unwrap();
    assert_eq!(
        (frame.metalayers().len(), frame.vlmetalayers().count()),
        (16, count - 1)
    );
}

/// A chunk that only the index tells of has any length, and elements of any size.
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
    let limits = Limits {
        chunk: 64 << 20,
        ..Limits::default()
    };
    let strict = options().limits(limits);
    // By blocks, of which a default reader takes 256 MiB, and by chunks.
    let array = bomb(None).array().unwrap();
    let (read, peak) = peak_of(|| array.read_slice(&[5..6]));
    assert!(peak < BASE, "{peak} bytes");
    assert!(read.is_ok() || read.is_err_and(|error| error.category() == Category::OverLimit));
    for place in [None, Some(ChunkPlace::Zeros), Some(ChunkPlace::Uninit)] {
        let memory = Memory::from([("a", bomb(place).bytes())]);
        let frame = strict.edit_in(memory, OsStr::new("a")).unwrap();
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

/// A frame of chunks of 60 bytes at these places, without an array.
fn plain(chunks: Vec<u8>, places: &[ChunkPlace]) -> Parts {
    let mut parts = Parts::sound().with_places(places);
    parts.header.metalayers = Metalayers::new();
    (parts.header.chunk_size, parts.header.blocksize) = (Some(60), 60);
    parts.header.content_len = 60 * places.len() as u64;
    parts.chunks = chunks;
    parts
}

/// A chunk of 60 bytes in one block, whose stream lies `start` bytes from here.
fn head(start: u32, ctbytes: u32) -> Vec<u8> {
    let mut head = vec![2, 1, 0x10, 4];
    for word in [60, 60, ctbytes, start] {
        head.extend(u32::to_le_bytes(word));
    }
    head
}

/// Many entries may lead to one chunk, each of which would read all of it.
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
    let frame = options().read(bytes.clone()).unwrap();
    assert!((0..8).all(|number| frame.chunk(number).unwrap() == [7; 60]));
    let error = frame.to_bytes().unwrap_err();
    assert_eq!(error.category(), Category::Damaged, "{error}");
    let memory = Memory::from([("a", bytes)]);
    let mut frame = options().edit_in(memory, OsStr::new("a")).unwrap();
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

#[test]
fn a_frame_behind_padding_is_not_cut_off() {
    let one = Parts::sound().bytes();
    let edit = |bytes| {
        let memory = Memory::from([("a", bytes)]);
        options().edit_in(memory, OsStr::new("a"))
    };
    for padding in [0, 1, 16, 5000, (1 << 20) - 5, 1 << 20] {
        for byte in [0, 0xee] {
            let error = edit([&one[..], &vec![byte; padding], &one].concat()).unwrap_err();
            assert_eq!(error.category(), Category::Unsupported, "{padding}");
            let byte = format!("byte {}", one.len() + padding);
            assert!(error.to_string().contains(&byte), "{error}");
            // What a change that was not finished leaves.
            assert!(edit([&one[..], &vec![2; padding]].concat()).is_ok());
        }
    }
}

/// Who writes a frame can open it again.
#[test]
fn layers_are_held_to_the_limit_when_they_are_set() {
    let limits = Limits {
        metadata: 10_000,
        ..Limits::default()
    };
    let strict = options().limits(limits);
    let noise = numbers(1500, true);
    let builder = || Frame::builder(1, 10).options(strict.clone());
    let mut frame = builder().in_memory().unwrap();
    frame.set_metalayer("a", noise.clone()).unwrap();
    frame.set_vlmetalayer("a", &noise).unwrap();
    for (name, times) in [("b", 1), ("a", 2)] {
        let error = frame.set_metalayer(name, noise.repeat(times)).unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
        let more = numbers(1500 * times, true);
        let error = frame.set_vlmetalayer(name, &more).unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
    }
    frame.append(&[7; 10]).unwrap();
    frame.flush().unwrap();
    let frame = strict.read(frame.to_bytes().unwrap()).unwrap();
    assert_eq!(frame.metalayers().get("a"), Some(&noise[..]));
    assert_eq!(frame.vlmetalayer("a").unwrap().unwrap(), noise);
    assert_eq!(
        (frame.metalayers().len(), frame.vlmetalayers().count()),
        (1, 1)
    );
    let long = builder().metalayer("a", noise.repeat(2)).unwrap();
    let error = long.in_memory().unwrap_err();
    assert_eq!(error.category(), Category::OverLimit, "{error}");
}

#[cfg(unix)]
mod on_disk {
    use super::{Parts, WHOLE, options, sparse};
    use bloscpack::frame::{Frame, NdArray};
    use bloscpack::storage::MemoryStore;
    use std::path::Path;
    use std::sync::mpsc;
    use std::time::Duration;

    /// What comes of it within some seconds.
    fn hurried<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, wait) = mpsc::channel();
        std::thread::spawn(move || drop(done.send(act())));
        wait.recv_timeout(Duration::from_secs(20))
            .expect("it hangs")
    }

    fn write(store: &MemoryStore, folder: &Path) {
        for key in store.keys() {
            std::fs::write(folder.join(key.as_str()), store.bytes(key).unwrap()).unwrap();
        }
    }

    fn fifo(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    }

    /// What is put in the place of a file.
    const HARMS: [&str; 7] = [
        "link", "missing", "folder", "fifo", "device", "empty", "loop",
    ];

    fn harm(path: &Path, outside: &Path, how: &str) {
        if how != "link" {
            std::fs::remove_file(path).unwrap();
        }
        match how {
            "link" => {
                std::fs::rename(path, outside).unwrap();
                std::os::unix::fs::symlink(outside, path).unwrap();
            }
            "folder" => std::fs::create_dir(path).unwrap(),
            "fifo" => fifo(path),
            "device" => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
            "empty" => std::fs::write(path, b"").unwrap(),
            "loop" => std::os::unix::fs::symlink(path, path).unwrap(),
            _ => {}
        }
    }

    #[test]
    fn files_of_a_directory_that_are_none_are_refused() {
        for name in ["chunks.b2frame", "00000001.chunk"] {
            for how in HARMS {
                let why = format!("{name}: {how}");
                let temp = tempfile::tempdir().unwrap();
                let (root, outside) = (temp.path().join("array"), temp.path().join("outside"));
                std::fs::create_dir(&root).unwrap();
                write(&sparse(&Parts::sound().bytes()), &root);
                harm(&root.join(name), &outside, how);
                let before = std::fs::read(&outside).ok();
                let path = root.clone();
                let read = hurried(move || NdArray::open(path)?.read_slice(&WHOLE));
                let error = read.expect_err(&why);
                let path = root.clone();
                let verified = hurried(move || Frame::open(path).map(|frame| frame.verify(|_| {})));
                assert!(verified.is_err() || verified.is_ok_and(|report| !report.is_sound()));
                // To write over what is there leads nowhere else.
                let path = root.clone();
                let written = hurried(move || {
                    let mut array = options().edit_array(path)?;
                    array.fill_slice(&WHOLE, &[1; 4])?;
                    array.flush()
                });
                assert_eq!(
                    std::fs::read(&outside).ok(),
                    before,
                    "{why}: {error}, {written:?}"
                );
                if written.is_ok() {
                    let array = NdArray::open(&root).unwrap();
                    assert!(array.read_slice(&WHOLE).unwrap() == [1; 240], "{why}");
                }
            }
        }
    }

    #[test]
    fn files_that_are_none_are_refused() {
        for how in HARMS.into_iter().filter(|how| *how != "link") {
            let temp = tempfile::tempdir().unwrap();
            let path = temp.path().join("array");
            std::fs::write(&path, Parts::sound().bytes()).unwrap();
            harm(&path, &temp.path().join("outside"), how);
            let one = path.clone();
            assert!(hurried(move || Frame::open(one).is_err()), "{how}");
            assert!(hurried(move || Frame::edit(path).is_err()), "{how}");
        }
    }

    /// Names that lead elsewhere are none of a frame's.
    #[test]
    fn strange_names_are_told_and_left() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        write(&sparse(&Parts::sound().bytes()), root);
        let strange = [
            "..chunk",
            "-0000001.chunk",
            "+0000001.chunk",
            "0000000a.chunk",
            "100000000.chunk",
        ];
        for name in strange {
            std::fs::write(root.join(name), b"strange").unwrap();
        }
        let mut array = options().edit_array(root).unwrap();
        let report = array.frame().verify(|_| {});
        assert!(report.is_sound());
        assert_eq!(
            report.warnings.len(),
            strange.len(),
            "{:?}",
            report.warnings
        );
        array.append(0, &[7; 40]).unwrap();
        array.flush().unwrap_or_else(|error| panic!("{error}"));
        drop(array);
        for name in strange {
            assert_eq!(
                std::fs::read(root.join(name)).unwrap(),
                b"strange",
                "{name}"
            );
        }
    }
}
