//! The superchunks of an array, compared with what is counted.

use super::count::{Extra, Extras};
use super::{Finding, Remedy, RepairOptions, Uncounted, leave, note};
use crate::dataset::CArray;
use crate::dataset::boxes::to_usize;
use crate::dataset::leaf::Leaf;
use crate::error::{Error, Result};

/// Repairs an array, or a column, but for the counts.
pub(super) fn repair(
    array: &mut CArray,
    how: &RepairOptions,
    found: &mut Vec<Finding>,
) -> Result<()> {
    if array.dtype().has_object() {
        return Ok(());
    }
    let is_whole = missing(array, how, found)?;
    let extras = Extras::of(array.leaf())?;
    let counted = match is_whole {
        true => uncounted(array, &extras, how, found)?,
        false => 0,
    };
    stale(array, &extras, counted, how, found)?;
    recount(array, found)
}

/// Superchunks that should be there and are not, or are damaged; true if there are none such.
fn missing(array: &mut CArray, how: &RepairOptions, found: &mut Vec<Finding>) -> Result<bool> {
    let mut bad: Vec<(u64, Error)> = Vec::new();
    for chunk in 0..array.chunks() {
        if let Err(error) = array.leaf().stored(chunk) {
            bad.push((chunk, error));
        }
    }
    let Some((first, _)) = bad.first() else {
        return Ok(true);
    };
    let (first, count) = (*first, u64::try_from(bad.len()).unwrap_or(u64::MAX));
    let at_the_end = first.saturating_add(count) == array.chunks();
    let per_band = array.leaf().grid().chunks_per_band().max(1);
    let rows = (first / per_band).saturating_mul(array.leaf().grid().band_rows());
    if !(at_the_end && how.cut) {
        let advice = match at_the_end {
            true => format!("cutting the array off would keep the first {rows} rows"),
            false => "nothing can be done: bring the file back from elsewhere".to_owned(),
        };
        bad.iter()
            .for_each(|(_, error)| leave(found, error, &advice));
        return Ok(false);
    }
    for (_, error) in &bad {
        leave(found, error, "its rows are cut off");
        if let Some(last) = found.last_mut() {
            last.remedy = Remedy::Done(format!("cut the array off at {rows} rows"));
        }
    }
    let last = array.leaf().files();
    array.leaf_mut().cut_to(rows)?;
    for number in array.leaf().files()..last {
        array.leaf().remove_file(number)?;
    }
    Ok(true)
}

/// Rows that are there and not counted; returns how many superchunks behind the counted ones they are in that are kept.
fn uncounted(
    array: &mut CArray,
    extras: &Extras,
    how: &RepairOptions,
    found: &mut Vec<Finding>,
) -> Result<u64> {
    let (rows, there) = (array.rows(), extras.rows);
    if there == rows {
        return Ok(0);
    }
    let path = array.leaf().spec().folder.clone();
    let what = format!("{there} rows are in the superchunks, of which the dataset counts {rows}");
    let keep = match how.uncounted {
        Uncounted::Keep => true,
        Uncounted::Drop => false,
        Uncounted::Tell => match extras.origin {
            Extra::Appended => true,
            Extra::CutOff => false,
            Extra::Unknown => {
                let advice = "they were appended and never flushed, or cut off: say whether to keep or to drop them";
                note(found, path, what, Remedy::Left(advice.to_owned()));
                return Ok(0);
            }
        },
    };
    if keep {
        // What is counted has to be there down to its last byte.
        extras.check(array.leaf())?;
        note(
            found,
            path,
            what,
            Remedy::Done(format!("counted all {there} rows")),
        );
        array.leaf_mut().set_rows(there)?;
        return Ok(extras.contiguous);
    }
    if extras.longer {
        note(
            found,
            path,
            what,
            Remedy::Done(format!("cut the last superchunk off at {rows} rows")),
        );
        array.leaf_mut().trim(rows, |_| Ok(()))?;
    }
    Ok(0)
}

/// Superchunks that no row needs.
fn stale(
    array: &CArray,
    extras: &Extras,
    counted: u64,
    how: &RepairOptions,
    found: &mut Vec<Finding>,
) -> Result<()> {
    let undecided = how.uncounted == Uncounted::Tell && extras.origin == Extra::Unknown;
    for (index, number) in extras.numbers.iter().enumerate() {
        let index = u64::try_from(index).unwrap_or(u64::MAX);
        if index < counted || (undecided && index < extras.contiguous) {
            continue;
        }
        let key = array.leaf().key(*number)?;
        note(
            found,
            &key,
            "a stale superchunk, which no row needs",
            Remedy::Done("removed it".to_owned()),
        );
        array.leaf().remove_file(*number)?;
    }
    Ok(())
}

/// The count of compressed bytes, which readers do not need and trimming programs get wrong.
fn recount(array: &mut CArray, found: &mut Vec<Finding>) -> Result<()> {
    if array.home().in_table && !array.home().layout.columns_are_datasets() {
        return Ok(());
    }
    let mut sum = 0i64;
    let grid = array.leaf().grid();
    let full = grid.full_bands().saturating_mul(grid.chunks_per_band());
    for chunk in 0..full {
        let Ok(stored) = array.leaf().stored(chunk) else {
            return Ok(());
        };
        let len = i64::try_from(to_usize(stored.header.ctbytes.into())).unwrap_or(i64::MAX);
        sum = sum
            .saturating_add(len)
            .saturating_add(array.leaf().spec().chunk_overhead);
    }
    let stated = array.stated_cbytes();
    if stated != sum && array.home().layout != crate::dataset::DatasetLayout::CarrayDocument {
        let what = format!(
            "the compressed bytes are counted as {stated}, and are {sum}, full chunks alone"
        );
        note(
            found,
            &array.home().at.join("meta")?,
            what,
            Remedy::Done("counted them anew".to_owned()),
        );
        array.leaf_mut().set_cbytes(sum);
    }
    Ok(())
}

impl Leaf {
    /// Forgets rows whose superchunks cannot be read.
    fn cut_to(&mut self, rows: u64) -> Result<()> {
        let whole = rows - rows % self.grid().band_rows();
        self.set_rows(whole)
    }
}
