//! Tests that records written in any way, by any number of threads, are read back unchanged in any way, also after
//! the file has grown.

use crate::records::trickle::Trickle;
use crate::records::{Records, in_order};
use bloscpack::storage::Memory;
use bloscpack::{
    Checksum, Compressor, Filter, FormatVersion, Metadata, Options,
    edit::Editor,
    records::{IndexedRecordReader, RecordReader, RecordWriter, RecordWriterBuilder},
    verify::verify,
};
use proptest::prelude::*;
use std::ffi::OsStr;
use std::io::Cursor;

/// Where the records go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Stream,
    File,
    /// One that can be sought, but not read.
    Seek,
}

/// One record a chunk, or a kind of packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Packed(u32),
    Small,
    Quick,
}

#[derive(Debug, Clone)]
struct Setup {
    form: Form,
    layout: FormatVersion,
    target: Target,
    count_known: bool,
    threads: usize,
    checksum: Checksum,
    compressor: Compressor,
    filter: Filter,
    typesize: u8,
    spare: Option<u64>,
    offsets: bool,
    metadata: bool,
    /// Flush after each record whose number this divides.
    flush: Option<usize>,
}

impl Setup {
    fn builder(&self, count: usize) -> RecordWriterBuilder {
        let builder = RecordWriter::builder()
            .version(self.layout)
            .checksum(self.checksum)
            .filter(self.filter)
            .typesize(self.typesize)
            .offsets(self.offsets)
            .threads(self.threads);
        let mut builder = match self.form {
            Form::Plain => builder.compressor(self.compressor),
            Form::Packed(size) => builder.packed(size).compressor(self.compressor),
            Form::Small => builder.small(),
            Form::Quick => builder.quick(),
        };
        if let Some(spare) = self.spare {
            builder = builder.max_app_chunks(spare);
        }
        if self.metadata {
            builder = builder.metadata(Metadata::from_json(r#"{"own": [1, NaN]}"#).unwrap());
        }
        if self.count_known {
            builder = builder.count(count as u64);
        }
        builder
    }

    fn write(&self, records: &[Vec<u8>]) -> Vec<u8> {
        let builder = self.builder(records.len());
        let flushes = |number: usize| self.flush.is_some_and(|every| number.is_multiple_of(every));
        macro_rules! push_all {
            ($writer:expr) => {{
                let mut writer = $writer.unwrap();
                for (number, record) in records.iter().enumerate() {
                    assert_eq!(writer.records(), number as u64);
                    writer.push(record).unwrap();
                    if flushes(number) {
                        writer.flush().unwrap();
                    }
                }
                writer.finish().unwrap()
            }};
        }
        match self.target {
            Target::Stream => push_all!(builder.write_to(Vec::new())),
            Target::File => push_all!(builder.write_to_file(Cursor::new(Vec::new()))).into_inner(),
            Target::Seek => push_all!(builder.write_to_seek(Cursor::new(Vec::new()))).into_inner(),
        }
    }
}

fn options() -> impl Strategy<Value = Setup> {
    let form = prop_oneof![
        2 => Just(Form::Plain),
        3 => prop_oneof![Just(64), 64_u32..300, 300_u32..70_000, Just(1 << 20)].prop_map(Form::Packed),
        1 => Just(Form::Small),
        1 => Just(Form::Quick),
    ];
    let layout = prop_oneof![Just(FormatVersion::V2), Just(FormatVersion::V3)];
    let target = prop_oneof![Just(Target::Stream), Just(Target::File), Just(Target::Seek)];
    let checksum = prop::sample::select(Checksum::ALL.to_vec());
    let compressor = prop::sample::select(Compressor::ALL.to_vec());
    let filter = prop::sample::select(Filter::ALL.to_vec());
    let spare = prop::option::of(0_u64..5);
    let flush = prop::option::of(1_usize..20);
    let how = (form, layout, target, any::<bool>(), 1_usize..4);
    let chunks = (checksum, compressor, filter, 1_u8..10);
    let rest = (spare, prop::bool::weighted(0.9), any::<bool>(), flush);
    (how, chunks, rest).prop_map(|(how, chunks, rest)| {
        let mut options = Setup {
            form: how.0,
            layout: how.1,
            target: how.2,
            count_known: how.3,
            threads: how.4,
            checksum: chunks.0,
            compressor: chunks.1,
            filter: chunks.2,
            typesize: chunks.3,
            spare: rest.0,
            offsets: rest.1,
            metadata: rest.2,
            flush: rest.3,
        };
        // A table for an unknown number of chunks needs a target that can be read.
        let is_open = options.form != Form::Plain || !options.count_known;
        if options.target == Target::Seek && is_open {
            options.offsets = false;
        }
        options
    })
}

fn record() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => Just(Vec::new()),
        6 => prop::collection::vec(any::<u8>(), 1),
        20 => prop::collection::vec(any::<u8>(), 0..40),
        8 => (0_usize..600, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
        2 => (0_usize..20_000, any::<u32>()).prop_map(|(len, seed)| noise(len, seed)),
        1 => (0_usize..=1 << 20, any::<u32>()).prop_map(|(len, seed)| noise(len, seed)),
    ]
}

/// Bytes that do not compress, every other time.
fn noise(len: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    match seed % 2 {
        0 => (0..len).map(|_| next()).collect(),
        _ => (0..len).map(|at| (at / 7) as u8).collect(),
    }
}

fn records() -> impl Strategy<Value = Records> {
    prop_oneof![
        4 => prop::collection::vec(record(), 0..60),
        1 => prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..3000),
    ]
}

/// A request to a reader by number.
#[derive(Debug, Clone)]
enum Ask {
    Get(prop::sample::Index),
    Range(prop::sample::Index, prop::sample::Index),
    Many(Vec<prop::sample::Index>, usize),
    Behind(u64),
    All,
    Reopen { cache: usize },
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let any_index = any::<prop::sample::Index>;
    let ask = prop_oneof![
        8 => any_index().prop_map(Ask::Get),
        3 => (any_index(), any_index()).prop_map(|(from, to)| Ask::Range(from, to)),
        3 => (prop::collection::vec(any_index(), 0..100), 1_usize..4)
            .prop_map(|(numbers, threads)| Ask::Many(numbers, threads)),
        1 => prop_oneof![0_u64..3, Just(u64::MAX >> 1)].prop_map(Ask::Behind),
        1 => Just(Ask::All),
        1 => prop::sample::select(vec![0, 100, 5000, 64 << 20]).prop_map(|cache| Ask::Reopen { cache }),
    ];
    prop::collection::vec(ask, 0..40)
}

fn check_by_number(file: &[u8], records: &[Vec<u8>], asks: &[Ask]) {
    let count = records.len() as u64;
    let mut reader = IndexedRecordReader::open(file).unwrap();
    for ask in asks {
        assert_eq!((reader.len(), reader.is_empty()), (count, count == 0));
        match ask {
            Ask::Get(at) if count > 0 => {
                let at = at.index(records.len());
                assert_eq!(reader.get(at as u64).unwrap(), records[at]);
            }
            Ask::Range(from, to) if count > 0 => {
                let (from, to) = (from.index(records.len()), to.index(records.len() + 5));
                let found: Result<Records, _> = reader.range_as(from as u64..to as u64).collect();
                let to = to.min(records.len());
                assert_eq!(found.unwrap(), records[from.min(to)..to]);
            }
            Ask::Many(numbers, threads) if count > 0 => {
                let numbers = numbers.iter().map(|at| at.index(records.len()) as u64);
                let numbers: Vec<_> = numbers.collect();
                let options = Options::new().threads(*threads);
                let other = IndexedRecordReader::with_options(file, options).unwrap();
                let expected: Vec<_> = numbers.iter().map(|&at| &records[at as usize]).collect();
                assert_eq!(other.get_many(&numbers).unwrap(), expected);
            }
            Ask::Get(_) | Ask::Range(..) => assert!(reader.get(0).is_err()),
            Ask::Many(numbers, _) => {
                assert_eq!(reader.get_many(&[]).unwrap(), Vec::<Vec<u8>>::new());
                assert!(numbers.is_empty() || reader.get_many(&[0]).is_err());
            }
            Ask::Behind(by) => assert!(reader.get(count + by).is_err()),
            Ask::All => {
                let found: Records = reader.iter().map(|one| one.unwrap().into()).collect();
                assert_eq!(found, records);
            }
            Ask::Reopen { cache } => {
                let builder = Options::new().cache(*cache);
                reader = IndexedRecordReader::with_options(file, builder).unwrap();
            }
        }
    }
}

fn check_in_order(file: &[u8], records: &[Vec<u8>], most: usize, threads: usize) {
    let (found, end) = in_order(Trickle::new(file, most));
    end.unwrap();
    assert_eq!(found, records);
    let builder = Options::new().threads(threads);
    let found: Result<Records, _> = RecordReader::with_options(file, builder)
        .map(|one| one.map(Vec::from))
        .collect();
    assert_eq!(found.unwrap(), records);
    verify(file, &Options::new().threads(threads), |damage| {
        Err(damage.error)
    })
    .unwrap();
}

/// Checks the metadata, if it contains anything.
fn check_metadata(file: &[u8], options: &Setup, count: usize) {
    let mut reader = RecordReader::new(file);
    let metadata = reader.read_metadata().unwrap().unwrap().value().clone();
    assert_eq!(metadata["dtype"], "varbinary");
    assert_eq!(metadata.get("own").is_some(), options.metadata);
    assert_eq!(
        metadata.get("packing").is_some(),
        options.form != Form::Plain
    );
    let is_open = options.target == Target::Stream && !options.count_known;
    let expected = (!is_open).then(|| serde_json::json!([count]));
    assert_eq!(metadata.get("shape"), expected.as_ref());
    let header = reader.read_header().unwrap();
    assert!(header.varlen && header.chunk_size.is_none() && header.last_chunk.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testkit::effort::models(120), ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_comes_out(
        options in options(),
        records in records(),
        asks in asks(),
        most in prop_oneof![Just(1_usize), 1_usize..300, Just(usize::MAX)],
        threads in 1_usize..4,
    ) {
        let file = options.write(&records);
        // Bytes one by one take long where there are many.
        let most = if file.len() > 100_000 { most.max(1000) } else { most };
        check_in_order(&file, &records, most, threads);
        check_by_number(&file, &records, &asks);
        check_metadata(&file, &options, records.len());
    }

    #[test]
    fn the_same_bytes_come_from_any_number_of_threads(
        options in options(),
        records in records(),
    ) {
        let with = |threads| Setup { threads, ..options.clone() }.write(&records);
        let one = with(1);
        prop_assert!(with(2) == one && with(3) == one);
    }

    #[test]
    fn members_are_read_one_behind_the_other(
        members in prop::collection::vec((options(), records()), 1..4),
        most in prop_oneof![Just(7_usize), 1_usize..3000],
        threads in 1_usize..4,
    ) {
        let files = members.iter().map(|(options, records)| options.write(records));
        let file = files.collect::<Vec<_>>().concat();
        let records: Records = members.iter().flat_map(|(_, records)| records.clone()).collect();
        check_in_order(&file, &records, most, threads);
        let all_plain = members.iter().all(|(options, _)| options.form == Form::Plain);
        if all_plain || members.len() == 1 {
            check_by_number(&file, &records, &[Ask::All]);
        } else {
            prop_assert!(IndexedRecordReader::open(&file).is_err());
        }
    }

    #[test]
    fn a_file_grows(
        options in options(),
        begin in records(),
        batches in prop::collection::vec((records(), any::<bool>(), any::<bool>()), 1..5),
        threads in 1_usize..3,
        asks in asks(),
    ) {
        let mut records = begin;
        let folder = Memory::from([("a.blp", options.write(&records))]);
        let name = OsStr::new("a.blp");
        let open = || Editor::builder().options(Options::new().threads(threads)).open_records_in(folder.clone(), name);
        let mut editor = open().unwrap();
        for (batch, finished, reopen) in batches {
            let mut appender = editor.append().unwrap();
            for record in &batch {
                appender.push(record).unwrap();
            }
            prop_assert_eq!(appender.records(), batch.len() as u64);
            if finished {
                prop_assert_eq!(appender.finish().unwrap(), batch.len() as u64);
                records.extend(batch);
            } else {
                drop(appender);
            }
            prop_assert_eq!(editor.len(), records.len() as u64);
            let found: Records =
                editor.reader().unwrap().iter().map(|one| one.unwrap().into()).collect();
            prop_assert_eq!(&found, &records);
            if reopen {
                drop(editor);
                editor = open().unwrap();
            }
        }
        drop(editor);
        let file = folder.bytes("a.blp").unwrap();
        check_in_order(&file, &records, 1000, threads);
        check_by_number(&file, &records, &asks);
        let reader = IndexedRecordReader::open(&file).unwrap();
        let metadata = reader.metadata().unwrap().value();
        prop_assert_eq!(metadata.get("own").is_some(), options.metadata);
        if let Some(shape) = metadata.get("shape") {
            prop_assert_eq!(shape, &serde_json::json!([records.len()]));
        }
    }
}
