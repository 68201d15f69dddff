//! Tests that inputs that declare huge sizes are refused for the right reason, or read, in little memory and time.
//!
//! The bound is 64 MiB, which is what a chunk may take in one piece before it is decoded, and twice the bytes that were read,
//! counted by an allocator that takes every byte asked for as used; and one second of the processor.

mod bombs;
mod datasets;
mod frames;
mod headers;
mod metadata;
mod records;

use crate::matrix::BASE;
use crate::matrix::by_fields::Count;
use crate::matrix::counting::peak_of;
use crate::matrix::samples::{self, Files, Reader};
use crate::matrix::stopwatch::{HANG, Stopwatch};
use bloscpack::{
    Category, Decoder, Error, Limits, Options,
    records::{IndexedRecordReader, RecordReader},
};
use bloscpack_open::datasets::DatasetLayout;

const MIB: usize = 1 << 20;

/// The input, and how it is to be read.
enum Input {
    File(Vec<u8>),
    /// A file, with limits that are not the usual ones.
    Strict(Vec<u8>, Limits),
    Records(Vec<u8>),
    StrictRecords(Vec<u8>, Limits),
    Frame(Vec<u8>),
    Dataset(DatasetLayout, Files),
}

struct Row {
    name: String,
    input: Input,
    /// The category of the error, or that it is read.
    expected: Option<Category>,
    /// Memory beyond the usual base, for what may have it.
    more: usize,
}

impl Input {
    fn container(&self) -> &'static str {
        match self {
            Self::File(_) | Self::Strict(..) => "file",
            Self::Records(_) | Self::StrictRecords(..) => "records",
            Self::Frame(_) => "frame",
            Self::Dataset(..) => "dataset",
        }
    }

    /// The result of reading, and the maximum number of bytes that were read for it.
    fn read(&self) -> (Result<(), Error>, usize) {
        match self {
            Self::File(file) => decode(file, Limits::default()),
            Self::Strict(file, limits) => decode(file, *limits),
            Self::Records(file) => (records(file, Limits::default()), file.len()),
            Self::StrictRecords(file, limits) => (records(file, *limits), file.len()),
            Self::Frame(file) => {
                let files = vec![("frame".to_owned(), file.clone())];
                (
                    samples::read(Reader::Contiguous, &files).map(drop),
                    file.len(),
                )
            }
            Self::Dataset(layout, files) => {
                let len = files.iter().map(|(_, bytes)| bytes.len()).sum();
                (
                    samples::read(Reader::Dataset(*layout), files).map(drop),
                    len,
                )
            }
        }
    }
}

fn decode(file: &[u8], limits: Limits) -> (Result<(), Error>, usize) {
    let mut decoder = Decoder::with_options(file, Options::new().limits(limits));
    let result = decoder.copy_to(&mut Count(0)).map(drop);
    (result, decoder.total_in() as usize)
}

/// In order, and by number those at both ends; both have to say the same.
fn records(file: &[u8], limits: Limits) -> Result<(), Error> {
    let in_order = || {
        let mut reader = RecordReader::with_options(file, Options::new().limits(limits));
        while reader.next_record()?.is_some() {}
        Ok(())
    };
    let by_number = || {
        let reader =
            IndexedRecordReader::with_options(file, Options::new().limits(limits).cache(MIB))?;
        let last = reader.len();
        for number in (0..last.min(1000)).chain(last.saturating_sub(1000)..last) {
            reader.get(number)?;
        }
        Ok(())
    };
    let (in_order, by_number): (Result<(), Error>, Result<(), Error>) = (in_order(), by_number());
    assert_eq!(
        in_order.is_ok(),
        by_number.is_ok(),
        "{in_order:?}, {by_number:?}"
    );
    in_order
}

fn file(name: &str, bytes: Vec<u8>, expected: Option<Category>) -> Row {
    row(name, Input::File(bytes), expected)
}

fn row(name: &str, input: Input, expected: Option<Category>) -> Row {
    Row {
        name: name.to_owned(),
        input,
        expected,
        more: 0,
    }
}

const CUT: Option<Category> = Some(Category::CutShort);
const DAMAGED: Option<Category> = Some(Category::Damaged);
const OVER: Option<Category> = Some(Category::OverLimit);
const UNSUPPORTED: Option<Category> = Some(Category::Unsupported);
const READ: Option<Category> = None;

#[test]
fn hostile_headers_cost_little_and_are_refused_for_the_right_reason() {
    println!("| container | header | bytes read | peak, KiB | bound, KiB | time, ms | verdict |");
    println!("|---|---|---|---|---|---|---|");
    let mut complaints = Vec::new();
    let rows = [
        headers::rows(),
        headers::chunks(),
        metadata::rows(),
        records::rows(),
        frames::rows(),
        datasets::rows(),
        bombs::rows(),
    ];
    for row in rows.into_iter().flatten() {
        let begun = Stopwatch::start();
        let ((result, read), peak) = peak_of(|| row.input.read());
        let time = begun.elapsed();
        let bound = BASE + 2 * read + row.more;
        let found = result.as_ref().err().map(Error::category);
        let verdict = found.map_or_else(|| "read".to_owned(), |category| format!("{category:?}"));
        let (container, name) = (row.input.container(), &row.name);
        println!(
            "| {container} | {name} | {read} | {} | {} | {:.1} | {verdict} |",
            peak >> 10,
            bound >> 10,
            time.as_secs_f64() * 1e3
        );
        if found != row.expected {
            complaints.push(format!(
                "{container}, {name}: {verdict}, expected {:?}: {result:?}",
                row.expected
            ));
        }
        if peak > bound || time > HANG {
            complaints.push(format!(
                "{container}, {name}: {peak} bytes of {bound}, {time:?}"
            ));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}
