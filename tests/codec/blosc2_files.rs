//! Tests of chunks of Blosc 2 in Bloscpack files and datasets: no tool writes such files, but nothing in their format
//! forbids them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "made-up data may be cut")]

use bloscpack::blosc::{
    Blosc2Encoder, Blosc2Settings, ChunkEncoder, ChunkHeader, ChunkSettings, Compressor, Filter,
    FilterPipeline, FilterStep, SpecialValue, special_chunk,
};
use bloscpack::{
    Category, Decoder, Options, decompress, indexed::IndexedReader, survey::Survey, verify::verify,
};
use bloscpack_open::datasets::CArray;
use std::io::{Cursor, Read};
use testkit::damages::recover;

/// Bytes of data in every chunk but the last.
const CHUNK: usize = 48_000;

/// Numbers of 4 bytes that wander.
fn data(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let numbers = (0..len.div_ceil(4)).map(|i| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (i as u32 * 3).wrapping_add(state >> 29)
    });
    let mut data: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    data.truncate(len);
    data
}

fn encode(data: &[u8], compressor: Compressor, steps: &[FilterStep], level: u8) -> Vec<u8> {
    let settings = Blosc2Settings::default()
        .compressor(compressor)
        .level(level)
        .filters(FilterPipeline::new(steps).unwrap())
        .typesize(4)
        .blocksize(Some(4000));
    let mut chunk = Vec::new();
    let mut encoder = Blosc2Encoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    chunk
}

fn blosc1(data: &[u8]) -> Vec<u8> {
    let settings = ChunkSettings::default().filter(Filter::Bit).typesize(4);
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    chunk
}

/// Chunks of every kind, and the data of each.
fn chunks() -> Vec<(Vec<u8>, Vec<u8>)> {
    use FilterStep::{Bitshuffle, Delta, Shuffle};
    let nbytes = u32::try_from(CHUNK).unwrap();
    let special = |value| special_chunk(value, nbytes, 4, 4000).unwrap();
    let wander = data(CHUNK);
    let runs = [
        vec![7; CHUNK / 2],
        wander[..CHUNK / 4].to_vec(),
        vec![0; CHUNK / 4],
    ]
    .concat();
    let nan = f32::NAN.to_le_bytes().repeat(CHUNK / 4);
    let mut all = vec![
        (special(SpecialValue::Zeros), vec![0; CHUNK]),
        (special(SpecialValue::Nan), nan),
        (special(SpecialValue::Uninit), vec![0; CHUNK]),
        (
            special(SpecialValue::Value(b"abcd")),
            b"abcd".repeat(CHUNK / 4),
        ),
        (blosc1(&wander), wander.clone()),
        (
            encode(&wander, Compressor::Lz4, &[Shuffle], 0),
            wander.clone(),
        ),
        (encode(&runs, Compressor::Lz4, &[], 5), runs.clone()),
        (
            encode(&vec![9; CHUNK], Compressor::Lz4, &[], 5),
            vec![9; CHUNK],
        ),
    ];
    for compressor in [
        Compressor::Blosclz,
        Compressor::Lz4hc,
        Compressor::Zlib,
        Compressor::Zstd,
    ] {
        for steps in [
            &[Shuffle][..],
            &[Bitshuffle],
            &[Delta, Shuffle],
            &[Shuffle, Bitshuffle],
        ] {
            all.push((encode(&wander, compressor, steps, 5), wander.clone()));
        }
    }
    let last = data(10_001);
    all.push((
        encode(&last, Compressor::Zstd, &[Delta, Bitshuffle], 5),
        last,
    ));
    all
}

/// A file of V3 without offsets, metadata and checksums.
fn file(chunks: &[(Vec<u8>, Vec<u8>)]) -> (Vec<u8>, Vec<u8>) {
    let last = chunks.last().unwrap().1.len();
    let mut file = b"blpk\x03\0\0\x04".to_vec();
    file.extend_from_slice(&i32::try_from(CHUNK).unwrap().to_le_bytes());
    file.extend_from_slice(&i32::try_from(last).unwrap().to_le_bytes());
    file.extend_from_slice(&i64::try_from(chunks.len()).unwrap().to_le_bytes());
    file.extend_from_slice(&0_i64.to_le_bytes());
    let (stored, content): (Vec<_>, Vec<_>) = chunks.iter().cloned().unzip();
    (
        file.into_iter().chain(stored.concat()).collect(),
        content.concat(),
    )
}

#[test]
fn a_file_of_them_is_read_in_order() {
    let (file, content) = file(&chunks());
    assert!(decompress(&file).unwrap() == content);
    for threads in [1, 3] {
        let mut read = Vec::new();
        let mut decoder = Decoder::with_options(file.as_slice(), Options::new().threads(threads));
        decoder.read_to_end(&mut read).unwrap();
        assert!(read == content);
    }
    let report = verify(file.as_slice(), &Options::new().threads(2), |_| Ok(())).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn a_file_of_them_is_read_anywhere() {
    let (file, content) = file(&chunks());
    let reader = IndexedReader::open(file.as_slice()).unwrap();
    assert_eq!(reader.content_len(), content.len() as u64);
    for at in (0..content.len()).step_by(3001) {
        for len in [1, 100, 5000, 100_000] {
            let len = len.min(content.len() - at);
            let mut part = vec![0xA5; len];
            reader.read_exact_at(at as u64, &mut part).unwrap();
            assert!(part == content[at..at + len], "{len} bytes from {at}");
        }
    }
}

#[test]
fn a_survey_names_their_compressors() {
    let (file, _) = file(&chunks());
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    let names: Vec<_> = survey.members[0]
        .compressors
        .iter()
        .map(|c| c.name())
        .collect();
    assert_eq!(names, ["lz4", "blosclz", "zlib", "zstd"]);
    assert_eq!(survey.members[0].filters, [Filter::Bit]);
}

/// A chunk in the middle is damaged: those around it are found again, whatever their kind.
#[test]
fn those_around_a_damaged_one_are_recovered() {
    let chunks = chunks();
    for damaged in 1..chunks.len() - 1 {
        let (mut file, content) = file(&chunks);
        let at = 32
            + chunks[..damaged]
                .iter()
                .map(|(chunk, _)| chunk.len())
                .sum::<usize>();
        // Beyond the 16 bytes that lead to the next chunk: its table, its filters or its data.
        let beyond = at + chunks[damaged].0.len() - 1;
        file[at + 18] ^= 0x80;
        file[beyond] ^= 0x80;
        let mut out = Cursor::new(Vec::new());
        recover(file.as_slice(), &mut out, &Options::new()).unwrap();
        let read = decompress(out.get_ref()).unwrap();
        let start = damaged * CHUNK;
        assert!(read[..start] == content[..start], "chunk {damaged}");
        let rest = content.len() - start - CHUNK;
        assert!(
            read[read.len() - rest..] == content[start + CHUNK..],
            "chunk {damaged}"
        );
    }
}

#[test]
fn version_6_is_refused_by_name() {
    let mut chunks = chunks();
    chunks.truncate(2);
    chunks[1].0[0] = 6;
    let (file, _) = file(&chunks);
    let error = decompress(&file).unwrap_err();
    assert_eq!(error.category(), Category::Unsupported);
    assert!(error.to_string().contains("Blosc 2"), "{error}");
}

/// The chunks of a real bcolz array, encoded again.
#[test]
fn an_array_of_bcolz_may_have_them() {
    let from = testkit::testdata("datasets/bcolz/py2_int64");
    let to = tempfile::tempdir().unwrap();
    for folder in ["data", "meta"] {
        std::fs::create_dir(to.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(from.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let copy = to.path().join(folder).join(entry.file_name());
            std::fs::copy(entry.path(), copy).unwrap();
        }
    }
    std::fs::copy(from.join("__attrs__"), to.path().join("__attrs__")).unwrap();
    let want = CArray::open(&from).unwrap().read_rows(0..1000).unwrap();
    let kinds: [&[FilterStep]; 3] = [
        &[FilterStep::Shuffle],
        &[FilterStep::Delta],
        &[FilterStep::Delta, FilterStep::Bitshuffle],
    ];
    for (number, chunk) in want.chunks(256 * 8).take(3).enumerate() {
        let settings = Blosc2Settings::default()
            .typesize(8)
            .blocksize(Some(512))
            .filters(FilterPipeline::new(kinds[number]).unwrap());
        let mut file = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
        let header = Blosc2Encoder::new(settings)
            .unwrap()
            .encode(chunk, &mut file)
            .unwrap();
        assert!(header.is_extended() && !header.is_pure_copy());
        std::fs::write(to.path().join(format!("data/__{number}.blp")), file).unwrap();
    }
    let array = CArray::open(to.path()).unwrap();
    assert!(array.read_rows(0..1000).unwrap() == want);
    for start in (0..990).step_by(37) {
        let rows = array.read_rows(start..start + 9).unwrap();
        let at = usize::try_from(start).unwrap() * 8;
        assert!(rows == want[at..at + 72], "{start}");
    }

    // One value for all elements, in a chunk shorter than its table of blocks would be.
    let special = special_chunk(SpecialValue::Value(&7_u64.to_le_bytes()), 2048, 8, 64).unwrap();
    let file = [b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0", special.as_slice()].concat();
    std::fs::write(to.path().join("data/__1.blp"), file).unwrap();
    let array = CArray::open(to.path()).unwrap();
    assert_eq!(array.to_vec::<i64>(250..520).unwrap()[6..262], [7; 256]);
    assert!(array.read_rows(512..1000).unwrap() == want[512 * 8..]);
}

#[test]
fn headers_of_32_bytes_are_told_from_those_of_16() {
    for (chunk, data) in chunks() {
        let header = ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap();
        assert_eq!(header.len(), if chunk[0] == 5 { 32 } else { 16 });
        assert_eq!(header.nbytes as usize, data.len());
        assert!(!header.is_end_mark());
    }
}
