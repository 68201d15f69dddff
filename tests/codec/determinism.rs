//! Tests that the same data with the same options gives the same bytes, for any number of threads, any cuts of the
//! data, and in every process.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "lengths here are small")]
#![allow(
    clippy::single_range_in_vec_init,
    reason = "a slice of one axis is one range"
)]

use bloscpack::blosc::Aim;
use bloscpack::storage::Memory;
use bloscpack::{
    Compressor, Encoder, EncoderBuilder, Filter, FormatVersion, Options,
    records::{RecordWriter, RecordWriterBuilder},
};
use bloscpack_open::datasets::{Attributes, CArray, CTable, Dataset, DatasetLayout};
use bloscpack_open::frames::{Frame, NdArray};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::num::NonZeroU64;
use std::process::Command;
use std::sync::Arc;

use golden::{Random, sensor};
use testkit::effort;
use testkit::golden;
use testkit::trickle;
use trickle::Trickle;

/// More than several threads get at once, whatever the size of the chunks.
const LEN: usize = 450_001;

/// How data comes to an encoder.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In one write.
    Whole,
    /// A byte a write.
    Bytes,
    /// In writes of any length.
    Pieces(u64),
    /// From a reader that always has more.
    Read,
    /// From a reader that returns this much at once.
    Trickle(usize),
    /// From a source read at positions.
    At,
    /// Some of it in each of these ways.
    Mixed,
}

const WAYS: [Way; 8] = [
    Way::Whole,
    Way::Bytes,
    Way::Pieces(1),
    Way::Pieces(2),
    Way::Read,
    Way::Trickle(5_003),
    Way::At,
    Way::Mixed,
];

/// Lengths that make up `len` together: short ones, and some long.
fn cuts(len: usize, seed: u64) -> Vec<usize> {
    let (mut random, mut left, mut cuts) = (Random::new(seed), len, Vec::new());
    while left > 0 {
        let most = [1, 10, 1000, 50_000, 300_000][random.below(5)];
        let cut = (random.below(most) + 1).min(left);
        cuts.push(cut);
        left -= cut;
    }
    cuts
}

/// `data` in pieces of any length.
fn pieces(data: &[u8], seed: u64) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    cuts(data.len(), seed).into_iter().map(move |cut| {
        let (piece, behind) = rest.split_at(cut);
        rest = behind;
        piece
    })
}

/// Feeds either kind of encoder.
macro_rules! feed {
    ($encoder:expr, $data:expr, $way:expr) => {{
        let (data, encoder): (&Arc<Vec<u8>>, _) = ($data, $encoder);
        let at = |from: usize, to: usize| from as u64..to as u64;
        match $way {
            Way::Whole => encoder.write_all(data).unwrap(),
            Way::Bytes => {
                for byte in data.iter() {
                    encoder.write_all(&[*byte]).unwrap();
                }
            }
            Way::Pieces(seed) => {
                pieces(data, seed).for_each(|piece| encoder.write_all(piece).unwrap());
            }
            Way::Read => drop(encoder.read_from(data.as_slice()).unwrap()),
            Way::Trickle(most) => drop(encoder.read_from(Trickle::new(data, most)).unwrap()),
            Way::At => drop(
                encoder
                    .read_at(Arc::clone(data), at(0, data.len()))
                    .unwrap(),
            ),
            Way::Mixed => {
                let (first, second) = (data.len() / 5, data.len() / 2);
                encoder.write_all(&data[..first]).unwrap();
                encoder
                    .read_at(Arc::clone(data), at(first, second))
                    .unwrap();
                encoder
                    .read_from(Trickle::new(&data[second..], 70_001))
                    .unwrap();
            }
        }
    }};
}

fn stream(builder: &EncoderBuilder, threads: usize, data: &Arc<Vec<u8>>, way: Way) -> Vec<u8> {
    let builder = builder.clone().threads(threads);
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    feed!(&mut encoder, data, way);
    encoder.finish().unwrap()
}

fn file(builder: &EncoderBuilder, threads: usize, data: &Arc<Vec<u8>>, way: Way) -> Vec<u8> {
    let builder = builder.clone().threads(threads);
    let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    feed!(&mut encoder, data, way);
    encoder.finish().unwrap().into_inner()
}

/// One thread with all at once, against 1 to 8 threads, each with one of the ways, and each way twice at least.
fn check(builder: &EncoderBuilder, data: &Arc<Vec<u8>>, ways: &[Way], what: &str) {
    let expected = [stream, file].map(|make| make(builder, 1, data, ways[0]));
    for round in effort::sample(0..ways.len().max(8), 3) {
        for (make, expected) in [stream, file].into_iter().zip(&expected) {
            for shift in [0, 3] {
                let (threads, way) = (round % 8 + 1, ways[(round + shift) % ways.len()]);
                let found = make(builder, threads, data, way);
                assert!(found == *expected, "{what}, {threads} threads, {way:?}");
            }
        }
    }
}

#[test]
fn streams_and_files_of_all_compressors_and_filters() {
    let data = Arc::new(sensor(LEN, 1));
    for (n, compressor) in Compressor::ALL.into_iter().enumerate() {
        for (m, filter) in Filter::ALL.into_iter().enumerate() {
            // Many chunks that go together, some, and one that is more than those.
            let chunk_size = [300, 9_000, 140_000][(n + m) % 3];
            let builder = Encoder::builder()
                .compressor(compressor)
                .level(3)
                .filter(filter)
                .typesize(2)
                .chunk_size(chunk_size);
            check(
                &builder,
                &data,
                &WAYS,
                &format!("{compressor:?} {filter:?}"),
            );
        }
    }
}

#[test]
fn streams_and_files_of_all_layouts() {
    let data = Arc::new(sensor(LEN, 2));
    for layout in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        for chunk_size in [1_000, 100_000] {
            // The length is declared, and the content fills whole chunks.
            let data = Arc::new(data[..data.len() / chunk_size * chunk_size].to_vec());
            let builder = Encoder::builder()
                .level(1)
                .version(layout)
                .chunk_size(chunk_size as u32)
                .size(data.len() as u64);
            check(&builder, &data, &WAYS, &format!("{layout:?} {chunk_size}"));
        }
    }
}

#[test]
fn settings_chosen_by_the_data() {
    for (kind, data) in [sensor(LEN, 3), sensor(2_000, 3), Vec::new()]
        .into_iter()
        .enumerate()
    {
        let data = Arc::new(data);
        for aim in [Aim::Speed, Aim::Balance] {
            for chunk_size in [1_000, 150_000] {
                let builder = Encoder::builder().auto(aim).chunk_size(chunk_size);
                let what = format!("{kind} {aim:?} {chunk_size}");
                // The sample is the first chunk, unless all of a source can be looked at.
                let in_order: Vec<Way> = WAYS
                    .into_iter()
                    .filter(|way| !matches!(way, Way::At))
                    .collect();
                // Data that is first read at positions is sampled there, and so is data after an empty start.
                let in_order = &in_order[..if data.len() < 5 { 6 } else { 7 }];
                check(&builder, &data, in_order, &what);
                check(&builder, &data, &[Way::At], &what);
            }
        }
    }
}

fn records(builder: RecordWriterBuilder, threads: usize, records: &[&[u8]]) -> [Vec<u8>; 2] {
    let builder = builder.threads(threads);
    let mut stream = builder.clone().write_to(Vec::new()).unwrap();
    let target = Cursor::new(Vec::new());
    let mut file = builder.write_to_file(target).unwrap();
    for record in records {
        stream.push(record).unwrap();
        file.push(record).unwrap();
    }
    [
        stream.finish().unwrap(),
        file.finish().unwrap().into_inner(),
    ]
}

#[test]
fn records_alone_and_packed() {
    let data = sensor(LEN, 4);
    let many: Vec<&[u8]> = pieces(&data, 5).chain([&[][..]; 3]).collect();
    for compressor in Compressor::ALL {
        for packed in [None, Some(500), Some(100_000)] {
            let builder = || {
                let builder = RecordWriter::builder().compressor(compressor).level(2);
                match packed {
                    Some(chunk_size) => builder.packed(chunk_size),
                    None => builder,
                }
            };
            let expected = records(builder(), 1, &many);
            for threads in 2..=8 {
                let found = records(builder(), threads, &many);
                assert!(found == expected, "{compressor:?} {packed:?} {threads}");
            }
        }
    }
}

/// All files of a store.
fn files(store: &Memory) -> BTreeMap<String, Vec<u8>> {
    let keys = store.keys().into_iter();
    keys.map(|key| (key.to_string(), store.bytes(&key).unwrap()))
        .collect()
}

fn attributes() -> Attributes {
    let text = r#"{"b": 1, "a": [true, null], "c": {"z": "", "y": 2.5}, "d": "x"}"#;
    Attributes::parse(text.as_bytes()).unwrap()
}

/// Rows as they are given to an array or a table, eight bytes each.
fn rows(data: &[u8], seed: u64) -> Vec<&[u8]> {
    let (mut rows, mut from) = (Vec::new(), 0);
    for cut in cuts(data.len() / 8, seed) {
        rows.push(&data[from..from + cut * 8]);
        from += cut * 8;
    }
    rows
}

fn array(layout: DatasetLayout, threads: usize, parts: &[&[u8]]) -> BTreeMap<String, Vec<u8>> {
    let (store, options) = (Memory::new(), Options::new().threads(threads));
    let mut builder = CArray::of::<i64>()
        .chunk_rows(1_500)
        .layout(layout)
        .level(2)
        .attributes(attributes())
        .options(options.clone());
    if matches!(
        layout,
        DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument
    ) {
        builder = builder.superchunk(NonZeroU64::new(3).unwrap());
    }
    let mut array = builder.create_in(store.clone()).unwrap();
    let (first, behind) = parts.split_at(parts.len() / 2);
    first.iter().for_each(|part| array.append(part).unwrap());
    let middle = array.rows();
    array.flush().unwrap();
    behind.iter().for_each(|part| array.append(part).unwrap());
    array.flush().unwrap();
    drop(array);
    let mut array = Dataset::edit_in(store.clone(), &options)
        .unwrap()
        .into_array()
        .unwrap();
    array
        .set_slice(
            &[middle / 2..middle],
            &vec![7; (middle - middle / 2) as usize * 8],
        )
        .unwrap();
    array.flush().unwrap();
    array.trim(array.rows() - 100).unwrap();
    array.flush().unwrap();
    drop(array);
    files(&store)
}

#[test]
fn arrays_in_directories() {
    let data = sensor(400_000, 6);
    let (before, behind) = data.split_at(160_000);
    // Data before the flush is flushed at the same place each time.
    let halves = |seed| [rows(before, seed), rows(behind, seed)];
    for layout in DatasetLayout::ALL {
        let expected = array(layout, 1, &[before, behind]);
        assert!(expected.len() > 5);
        for threads in 1..=8 {
            let found = array(layout, threads, &[before, behind]);
            assert!(found == expected, "{layout:?} {threads}");
        }
        for seed in 1..4 {
            let [mut some, mut others] = halves(seed);
            // Both lists need the same length.
            while some.len() < others.len() {
                some.push(&[]);
            }
            while others.len() < some.len() {
                others.push(&[]);
            }
            some.append(&mut others);
            let found = array(layout, 1 + seed as usize, &some);
            assert!(found == expected, "{layout:?} cut by {seed}");
        }
    }
}

fn table(layout: DatasetLayout, threads: usize, parts: &[&[u8]]) -> BTreeMap<String, Vec<u8>> {
    let store = Memory::new();
    let column = || CArray::of::<i64>().chunk_rows(900).level(1);
    let mut table = CTable::builder()
        .column("b", column())
        .column("a", column().compressor(Compressor::Zlib))
        .column("c", column().filter(Filter::None))
        .layout(layout)
        .attributes(attributes())
        .options(Options::new().threads(threads))
        .create_in(store.clone())
        .unwrap();
    for part in parts {
        let other: Vec<u8> = part.iter().rev().copied().collect();
        table.append(&[part, &other[..part.len()], part]).unwrap();
    }
    table.flush().unwrap();
    drop(table);
    files(&store)
}

#[test]
fn tables_in_directories() {
    let data = sensor(80_000, 7);
    for layout in DatasetLayout::ALL {
        let expected = table(layout, 1, &[&data]);
        for threads in 2..=8 {
            let found = table(layout, threads, &[&data]);
            assert!(found == expected, "{layout:?} {threads}");
        }
    }
    // Cut in two columns alike, and the same in the third.
    let same = vec![9; 80_000];
    for layout in DatasetLayout::ALL {
        let expected = table(layout, 1, &[&same]);
        for seed in 1..4 {
            let found = table(layout, 2, &rows(&same, seed));
            assert!(found == expected, "{layout:?} cut by {seed}");
        }
    }
}

/// An array that is made, written in boxes of all kinds, grown, cut and flushed.
fn nd(threads: usize, buffer: usize, sparse: bool) -> BTreeMap<String, Vec<u8>> {
    let options = Options::new().threads(threads).cache(buffer);
    let builder = NdArray::of_type::<i32>(&[100, 90])
        .chunk_shape(&[20, 30])
        .block_shape(&[7, 8])
        .level(3)
        .metalayer("b", vec![1; 30])
        .metalayer("a", vec![2; 3])
        .options(options);
    let store = Memory::new();
    let mut array = if sparse {
        builder.create_in_store(store.clone()).unwrap()
    } else {
        builder.in_memory().unwrap()
    };
    let numbers: Vec<i32> = (0..9_000).map(|n| n * n % 1013).collect();
    array.write(&[0..100, 0..90], &numbers).unwrap();
    array.write(&[3..77, 11..89], &numbers[..74 * 78]).unwrap();
    array.resize(&[130, 95]).unwrap();
    array.write(&[90..130, 5..95], &numbers[..40 * 90]).unwrap();
    array.flush().unwrap();
    array.insert(0, 50, &vec![5; 95 * 4 * 7]).unwrap();
    array.delete(1, 10..40).unwrap();
    let chosen: Vec<u64> = (0..130).step_by(9).collect();
    let some = vec![1; chosen.len() * chosen[..6].len() * 4];
    array
        .set_selection(&[&chosen, &[0, 1, 2, 40, 50, 60]], &some)
        .unwrap();
    array.flush().unwrap();
    let mut all = BTreeMap::from([("the frame".to_owned(), array.to_bytes().unwrap())]);
    drop(array);
    all.append(&mut files(&store));
    all
}

#[test]
fn arrays_in_frames() {
    for sparse in [false, true] {
        // All of it is kept until it is flushed, some of it is, and nearly nothing.
        for buffer in [64 << 20, 10_000, 1] {
            let expected = nd(1, buffer, sparse);
            for threads in 2..=8 {
                let found = nd(threads, buffer, sparse);
                let names: Vec<_> = found
                    .keys()
                    .filter(|key| found.get(*key) != expected.get(*key))
                    .collect();
                assert!(
                    found == expected,
                    "{threads} threads, buffer {buffer}, {sparse}: {names:?}"
                );
            }
        }
    }
}

fn frame() -> Vec<u8> {
    let mut frame = Frame::builder(2, 10_000)
        .metalayer("x", [1, 2])
        .unwrap()
        .vlmetalayer("y", &[3; 100])
        .unwrap()
        .in_memory()
        .unwrap();
    let data = sensor(50_000, 8);
    data.chunks(10_000)
        .for_each(|chunk| frame.append(chunk).unwrap());
    frame.insert(1, &data[5_000..15_000]).unwrap();
    frame.remove(3).unwrap();
    frame.set_vlmetalayer("a", &[4; 50]).unwrap();
    frame.flush().unwrap();
    frame.to_bytes().unwrap()
}

/// A digest of something of every kind.
fn digest_of_everything() -> String {
    let data = Arc::new(sensor(LEN, 9));
    let parts: Vec<&[u8]> = pieces(&data, 10).collect();
    let builder = Encoder::builder().chunk_size(20_000).level(2);
    let mut all = vec![
        stream(&builder, 3, &data, Way::Whole),
        file(&builder, 2, &data, Way::At),
    ];
    let auto = Encoder::builder().auto(Aim::Balance).chunk_size(20_000);
    all.push(stream(&auto, 2, &data, Way::Pieces(1)));
    all.push(file(&auto, 2, &data, Way::At));
    all.extend(records(RecordWriter::builder().packed(10_000), 2, &parts));
    all.extend(records(RecordWriter::builder(), 3, &parts));
    let named = |files: BTreeMap<String, Vec<u8>>| {
        let files = files.into_iter();
        files.flat_map(|(name, bytes)| [name.into_bytes(), bytes])
    };
    for layout in DatasetLayout::ALL {
        all.extend(named(array(layout, 2, &[&data[..80_000], &data[..8_000]])));
        all.extend(named(table(layout, 2, &[&data[..16_000]])));
    }
    all.extend(named(nd(2, 10_000, true)));
    all.push(frame());
    let mut hasher = Sha256::new();
    for bytes in all {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The standard library's maps come in another order in every process.
#[test]
fn another_process_writes_the_same() {
    const ASKED: &str = "BLOSCPACK_DIGEST_OF_EVERYTHING";
    let digest = digest_of_everything();
    if std::env::var_os(ASKED).is_some() {
        println!("digest: {digest}");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let mut other = Command::new(this);
    other.args([
        "--exact",
        "determinism::another_process_writes_the_same",
        "--nocapture",
    ]);
    let told = other.env(ASKED, "1").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.contains(&format!("digest: {digest}")),
        "{digest}\n{told}"
    );
}
