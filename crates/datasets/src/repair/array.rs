//! The superchunks of an array, compared with what is counted.

use super::count::Extras;
use super::{Finding, Remedy, RepairOptions, Uncounted, leave, note};
use crate::CArray;
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::{Category, Error, Result};

/// Repairs an array, or a column, but for the counts; false if something about its rows is left to be decided.
pub(super) fn repair(
    array: &mut CArray,
    how: &RepairOptions,
    found: &mut Vec<Finding>,
) -> Result<bool> {
    if array.dtype().has_object() {
        return Ok(true);
    }
    // Where something is damaged, nothing else is touched: it may be what is left of the rest.
    if !missing(array, how, found)? {
        return Ok(false);
    }
    let extras = Extras::of(array.leaf())?;
    let settled = match how.uncounted {
        Uncounted::Drop => {
            remove(array, &extras, found)?;
            true
        }
        Uncounted::Keep => keep(array, &extras, true, found)?,
        Uncounted::Tell if extras.is_appended() => keep(array, &extras, false, found)?,
        Uncounted::Tell => leave_extras(array, &extras, found)?,
    };
    recount(array, found)?;
    Ok(settled)
}

/// Damages of an array after which nobody wants to know more.
const MOST_DAMAGES: usize = 1000;

/// Superchunks that should be there and are not, or are damaged; true if there are none such, or they are cut off.
fn missing(array: &mut CArray, how: &RepairOptions, found: &mut Vec<Finding>) -> Result<bool> {
    let (mut bad, mut last_good): (Vec<(u64, Error)>, Option<u64>) = (Vec::new(), None);
    for chunk in 0..array.chunks() {
        match array.leaf().stored(chunk) {
            Ok(_) => last_good = Some(chunk),
            Err(error) if matches!(error.category(), Category::Damaged | Category::CutShort) => {
                bad.push((chunk, error))
            }
            // What cannot be read now may be sound.
            Err(error) => return Err(error),
        }
        if bad.len() > MOST_DAMAGES {
            break;
        }
    }
    let Some((first, _)) = bad.first() else {
        return Ok(true);
    };
    let at_the_end = last_good.is_none_or(|good| good < *first) && bad.len() <= MOST_DAMAGES;
    let per_band = array.leaf().grid().chunks_per_band().max(1);
    let rows = (first / per_band).saturating_mul(array.leaf().grid().band_rows());
    if at_the_end && how.cut {
        for (_, error) in &bad {
            leave(found, error, "");
            if let Some(last) = found.last_mut() {
                last.remedy = Remedy::Done(format!("cut the array off at {rows} rows"));
            }
        }
        let last = array.leaf().files();
        array.leaf_mut().set_rows(rows)?;
        for number in array.leaf().files()..last {
            array.leaf().remove_file(number)?;
        }
        return Ok(true);
    }
    let advice = match at_the_end {
        true => format!("cutting the array off would keep the first {rows} rows"),
        false => "nothing can be done: bring the file back from elsewhere".to_owned(),
    };
    bad.iter()
        .for_each(|(_, error)| leave(found, error, &advice));
    Ok(false)
}

/// What is told of rows that are not counted.
fn uncounted(array: &CArray, more: u64) -> String {
    let rows = array.rows();
    format!(
        "{} rows are in the superchunks, of which the dataset counts {rows}",
        rows.saturating_add(more)
    )
}

/// Counts rows that are there.
fn keep(
    array: &mut CArray,
    extras: &Extras,
    partial: bool,
    found: &mut Vec<Finding>,
) -> Result<bool> {
    let more = extras.rows(array.leaf(), partial);
    if more == 0 {
        return leave_extras(array, extras, found);
    }
    let path = array.leaf().spec().folder.clone();
    // What is counted has to be there down to its last byte.
    if let Err(error) = extras.check(array.leaf()) {
        leave(
            found,
            &error,
            "its rows are not counted: nothing was changed",
        );
        return Ok(false);
    }
    let what = uncounted(array, more);
    let rows = array.rows().saturating_add(more);
    note(
        found,
        path,
        what,
        Remedy::Done(format!("counted all {rows} rows")),
    );
    array.leaf_mut().set_rows(rows)?;
    let rest = Extras::of(array.leaf())?;
    leave_extras(array, &rest, found)
}

/// Tells of superchunks that nobody counts; true if there are none.
fn leave_extras(array: &CArray, extras: &Extras, found: &mut Vec<Finding>) -> Result<bool> {
    for number in &extras.numbers {
        let advice = "its rows were appended and never counted, or cut off: say whether to keep or to drop them";
        note(
            found,
            array.leaf().key(*number)?,
            "a stale superchunk, which no counted row needs",
            Remedy::Left(advice.to_owned()),
        );
    }
    Ok(extras.numbers.is_empty())
}

/// Removes all that is not counted.
fn remove(array: &mut CArray, extras: &Extras, found: &mut Vec<Finding>) -> Result<()> {
    if extras.longer > 0 {
        let (what, rows) = (uncounted(array, extras.longer), array.rows());
        let path = array.leaf().spec().folder.clone();
        note(
            found,
            path,
            what,
            Remedy::Done(format!("cut the last superchunk off at {rows} rows")),
        );
        array.leaf_mut().trim(rows)?;
    }
    for number in &extras.numbers {
        let key = array.leaf().key(*number)?;
        note(
            found,
            &key,
            "a stale superchunk, which no counted row needs",
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
    if stated != sum && array.home().layout != crate::DatasetLayout::CarrayDocument {
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
