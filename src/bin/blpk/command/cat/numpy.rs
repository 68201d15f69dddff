//! `blpk cat --rows` and `--slice` of Bloscpack files whose metadata tells of a NumPy array.

use std::ops::Range;
use std::path::Path;

use bloscpack::{DType, IndexedReader, Metadata};
use serde_json::Value;

use super::Cat;
use crate::command::decompress::blame;
use crate::dataset::slice::Box;
use crate::input::{Input, STANDARD};
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

/// An array as metadata tells of it.
#[derive(Debug, PartialEq)]
struct NumpyArray {
    itemsize: u64,
    shape: Vec<u64>,
}

impl Cat {
    /// Prints elements of the array that a file holds.
    pub(super) fn numpy(&self, session: &Session) -> Result<Status, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let name = input.name();
        let mut output = Output::create(Path::new(STANDARD), &[&input], session)?;
        let Some(file) = input.at_positions() else {
            let title = "--rows and --slice need a regular file, read from its beginning";
            return Err(Failure::usage(title).hint("use --range on a pipe"));
        };
        let reader = IndexedReader::builder().limits(session.limits).open(file);
        let reader = reader.map_err(|error| blame(&error, &input, &output))?;
        for warning in reader.warnings() {
            session.warning(format_args!("{name}: {warning}"));
        }
        let array = NumpyArray::of(reader.metadata());
        let array = array.map_err(|why| {
            Failure::usage(format!("{name}: {why}")).hint("--range A..B takes bytes of any file")
        })?;
        let wanted = self.elements(&array, &name)?;
        let total = wanted.bytes(array.itemsize);
        if Box::whole(&array.shape).bytes(array.itemsize) > reader.content_len() {
            let title = format!(
                "{name}: the shape in its metadata is larger than its content of {} bytes",
                reader.content_len()
            );
            return Err(Failure::new(Status::Damaged, title));
        }
        let progress = Progress::new(session, Some(total));
        in_runs(&wanted.ranges, &array.shape, array.itemsize, &mut |run| {
            let copied = reader.copy_range(run, &mut output);
            progress.advance(copied.map_err(|error| blame(&error, &input, &output))?);
            Ok(())
        })?;
        progress.finish();
        output.commit()?;
        Ok(Status::Done)
    }

    fn elements(&self, array: &NumpyArray, name: &str) -> Result<Box, Failure> {
        if let Some(slice) = &self.slice {
            return slice.resolve(&array.shape, name);
        }
        let rows = array.shape.first().copied().unwrap_or(1);
        let rows = self.rows.unwrap_or_default().resolve(rows, name)?;
        Ok(Box::of_rows(rows, &array.shape))
    }
}

impl NumpyArray {
    /// Reads the description, or says why there is none.
    fn of(metadata: Option<&Metadata>) -> Result<Self, String> {
        let none = "its metadata tells of no NumPy array, so that it has no rows";
        let value = metadata.map(Metadata::value).ok_or(none)?;
        if value.get("container") != Some(&Value::from("numpy")) {
            return Err(none.into());
        }
        if value.get("order").is_some_and(|order| order != "C") {
            return Err("the array is in the order of Fortran, whose rows lie apart".into());
        }
        let shape = value.get("shape").and_then(Value::as_array);
        let shape: Option<Vec<u64>> =
            shape.and_then(|axes| axes.iter().map(Value::as_u64).collect());
        let shape = shape.ok_or("the shape in its metadata is no list of lengths")?;
        let dtype = value.get("dtype").cloned().unwrap_or_default();
        let dtype = DType::from_json(&dtype).map_err(|error| error.to_string())?;
        Ok(Self {
            itemsize: dtype.itemsize(),
            shape,
        })
    }
}

/// Gives the bytes of a box, one stretch that lies together after another.
fn in_runs(
    ranges: &[Range<u64>],
    shape: &[u64],
    itemsize: u64,
    take: &mut impl FnMut(Range<u64>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // Elements of no bytes could be endlessly many.
    if itemsize == 0 || ranges.iter().any(Range::is_empty) {
        return Ok(());
    }
    let is_whole = |axis: usize| ranges[axis] == (0..shape[axis]);
    // From this axis on, all that is wanted lies together.
    let mut joined = ranges.len();
    while joined > 0 && (joined == ranges.len() || is_whole(joined)) {
        joined -= 1;
    }
    walk(ranges, shape, 0, joined, 0, &mut |start, count| {
        let (start, count) = (
            start.saturating_mul(itemsize),
            count.saturating_mul(itemsize),
        );
        take(start..start.saturating_add(count))
    })
}

/// Elements before the box along the axes up to `axis` are `before`.
fn walk(
    ranges: &[Range<u64>],
    shape: &[u64],
    axis: usize,
    joined: usize,
    before: u64,
    take: &mut impl FnMut(u64, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(range) = ranges.get(axis) else {
        return take(before, 1);
    };
    let behind: u64 = shape[axis + 1..]
        .iter()
        .fold(1, |n, len| n.saturating_mul(*len));
    if axis == joined {
        let count = (range.end - range.start).saturating_mul(behind);
        return take(before + range.start.saturating_mul(behind), count);
    }
    for at in range.clone() {
        let before = before + at.saturating_mul(behind);
        walk(ranges, shape, axis + 1, joined, before, take)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::in_runs;

    fn runs(ranges: &[std::ops::Range<u64>], shape: &[u64]) -> Vec<(u64, u64)> {
        let mut runs = Vec::new();
        in_runs(ranges, shape, 2, &mut |run| {
            runs.push((run.start, run.end));
            Ok(())
        })
        .unwrap();
        runs
    }

    #[test]
    fn what_lies_together_is_read_together() {
        let shape = [3, 4, 5];
        assert_eq!(runs(&[0..3, 0..4, 0..5], &shape), [(0, 120)]);
        assert_eq!(runs(&[1..3, 0..4, 0..5], &shape), [(40, 120)]);
        assert_eq!(runs(&[1..2, 1..3, 0..5], &shape), [(50, 70)]);
        assert_eq!(runs(&[0..2, 1..2, 3..5], &shape), [(16, 20), (56, 60)]);
        assert_eq!(runs(&[2..2, 0..4, 0..5], &shape), []);
        assert_eq!(runs(&[], &[]), [(0, 2)]);
    }
}
