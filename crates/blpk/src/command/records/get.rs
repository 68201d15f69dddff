//! `blpk records get`: prints records by number.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use bloscpack::{Decoder, Error, records::IndexedRecordReader, storage::ReadAt};
use clap::Args;

use super::failed_to_read;
use super::plain::RecordOutput;
use super::plain::{Separator, SeparatorArgs};
use crate::args;
use crate::command::bloscpack_file;
use crate::failure::{About as _, Failure};
use crate::input::{self, STANDARD, is_standard_input};
use crate::output::{MadeFrom, Replaces, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::count;

/// Print records by number, counted from 0
///
/// Only the chunks of these records are read. Records are printed in the order of the arguments, each followed by a line
/// break, unless -0, --lengths or --raw is given.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Get {
    #[command(flatten)]
    separator: SeparatorArgs,

    /// Print nothing between and after the records
    #[arg(long, conflicts_with_all = ["null", "lengths"])]
    raw: bool,

    /// File with records, or - for standard input, which must be a regular file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Number of a record, or a range A..B, A.. or ..B, excluding B
    #[arg(value_name = "N", required_unless_present = "from", value_parser = numbers)]
    numbers: Vec<RecordNumbers>,

    /// File with more numbers and ranges, one on each line, or - for standard input
    #[arg(long, value_name = "NUMBERS")]
    from: Option<PathBuf>,
}

/// Records that are read at once, in the order of the file.
const BATCH: usize = 256;

const EXAMPLES: &str = "\
Examples:
  blpk records get app.blp 0 17 1000..1010
  shuf -i 0-9999 | blpk records get app.blp --from -
  blpk records get --raw images.blp 3 > three.png";

/// The requested records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordNumbers {
    One(u64),
    /// `None` is the last record.
    Range(u64, Option<u64>),
}

impl RecordNumbers {
    /// The range, if a file with this number of records contains all of it.
    fn of(self, records: u64) -> Option<Range<u64>> {
        let (start, end) = match self {
            Self::One(number) => (number, number.checked_add(1)?),
            Self::Range(start, end) => (start, end.unwrap_or(records)),
        };
        (start <= end && end <= records).then_some(start..end)
    }
}

/// The message that these records do not exist.
impl std::fmt::Display for RecordNumbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(number) => write!(f, "there is no record {number}"),
            Self::Range(start, Some(end)) => write!(f, "there are no records {start}..{end}"),
            Self::Range(start, None) => write!(f, "there are no records {start}.."),
        }
    }
}

impl Get {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let numbers = self.numbers()?;
        let input = bloscpack_file::open(&self.file, session)?;
        let Some(file) = input.by_position() else {
            let title =
                "records are found by number only in a regular file, read from its beginning";
            return Err(Failure::usage(title).hint("blpk records unpack reads a pipe"));
        };
        let output = Target::file(
            STANDARD.as_ref(),
            Replaces::Plain,
            MadeFrom::Input(&input),
            session,
        )?;
        let options = session.options();
        let reader = IndexedRecordReader::with_options(file, options.clone()).map_err(|error| {
            let progress = Progress::new(session, None);
            failed_to_read(error, || {
                let mut decoder = Decoder::with_options(input.reader(&progress), options);
                decoder.read_header().is_ok_and(|header| !header.varlen)
            })
        });
        let reader = reader.about(&output.made_from(&input))?;
        session.warnings(&input.name(), reader.warnings());
        let ranges = ranges(&numbers, reader.len(), &input.name())?;
        let mut out = RecordOutput::new(output, self.separator());
        let done = copy(&ranges, &reader, &mut out);
        let done = done.map_err(|error| failed_to_read(error, || false));
        let done = done.about(&out.output().made_from(&input));
        out.finish(done, session)?;
        Ok(Status::Done)
    }

    fn separator(&self) -> Separator {
        if self.raw {
            Separator::Nothing
        } else {
            self.separator.separator()
        }
    }

    /// The numbers of the arguments, and those of the file.
    fn numbers(&self) -> Result<Vec<RecordNumbers>, Failure> {
        let mut all = self.numbers.clone();
        let Some(path) = &self.from else {
            return Ok(all);
        };
        if is_standard_input(path) && is_standard_input(&self.file) {
            let title = "standard input cannot be both the records and the numbers";
            return Err(Failure::usage(title));
        }
        let read = if is_standard_input(path) {
            io::read_to_string(io::stdin().lock())
        } else {
            fs::read_to_string(path)
        };
        let name = input::name(path);
        for (line, text) in (1..).zip(read.about(&name)?.lines()) {
            all.push(
                numbers(text.trim())
                    .map_err(|error| Failure::usage(format!("{name}, line {line}: {error}")))?,
            );
        }
        Ok(all)
    }
}

/// The requested ranges, if all of them exist.
fn ranges(numbers: &[RecordNumbers], records: u64, name: &str) -> Result<Vec<Range<u64>>, Failure> {
    let ranges = numbers.iter().map(|numbers| {
        numbers.of(records).ok_or_else(|| {
            let title = format!("{name}: {numbers}");
            let hint = format!("it has {}, counted from 0", count(records, "record"));
            Failure::usage(title).hint(hint)
        })
    });
    ranges.collect()
}

fn copy<S: ReadAt>(
    ranges: &[Range<u64>],
    reader: &IndexedRecordReader<S>,
    out: &mut RecordOutput,
) -> Result<(), Error> {
    let is_single = |range: &Range<u64>| range.end - range.start == 1;
    for ranges in ranges.chunk_by(|one, other| is_single(one) && is_single(other)) {
        let Some(range) = ranges.first().filter(|range| !is_single(range)) else {
            let numbers: Vec<_> = ranges.iter().map(|range| range.start).collect();
            for numbers in numbers.chunks(BATCH) {
                match reader.get_many(numbers) {
                    Ok(records) => records.iter().try_for_each(|record| out.put(record))?,
                    // Prints the records before the one that cannot be read.
                    Err(_) => numbers
                        .iter()
                        .try_for_each(|&number| out.put(&reader.get(number)?))?,
                }
            }
            continue;
        };
        for record in reader.range(range.clone()) {
            out.put(&record?)?;
        }
    }
    Ok(())
}

fn numbers(text: &str) -> Result<RecordNumbers, String> {
    if text.contains("..") {
        let (start, end) = args::range(text, args::count)?;
        return Ok(RecordNumbers::Range(start, end));
    }
    let number = args::count(text).map(RecordNumbers::One);
    number.map_err(|error| format!("{error}, or a range such as 5..10"))
}

#[cfg(test)]
mod tests {
    use super::{RecordNumbers, numbers};

    #[test]
    fn numbers_and_ranges() {
        assert_eq!(numbers("7"), Ok(RecordNumbers::One(7)));
        assert_eq!(numbers("3..7"), Ok(RecordNumbers::Range(3, Some(7))));
        assert_eq!(numbers(".."), Ok(RecordNumbers::Range(0, None)));
        for wrong in ["", "-1", "7..3", "a..b", "1..=2", "1...2", "1K", "0x1"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_existing_records_are_found() {
        let of = |text, records| numbers(text).unwrap().of(records);
        assert_eq!(of("4", 5), Some(4..5));
        assert_eq!(of("5", 5), None);
        assert_eq!(of("18446744073709551615", 5), None);
        assert_eq!(of("2..", 5), Some(2..5));
        assert_eq!(of("5..", 5), Some(5..5));
        assert_eq!(of("6..", 5), None);
        assert_eq!(of("..5", 5), Some(0..5));
        assert_eq!(of("..6", 5), None);
        assert_eq!(of("..", 0), Some(0..0));
    }
}
