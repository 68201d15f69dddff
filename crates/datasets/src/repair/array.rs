//! Repairs an array: compares its superchunks with the counts.

use super::uncounted::UncountedRows;
use super::{Finding, Remedy, RepairOptions, Uncounted, note, note_error};
use crate::carray::CArray;
use crate::dataset_layout::DatasetLayout;
use bloscpack_error::{Category, Error, Result};

const STALE: &str = "stale superchunk, which no counted row needs";

/// Repairs an array or a column, but does not write its number of rows. Returns false if the user has to decide about rows.
pub(super) fn repair(
    array: &mut CArray,
    options: &RepairOptions,
    findings: &mut Vec<Finding>,
) -> Result<bool> {
    if array.dtype().has_object() {
        return Ok(true);
    }
    // If something is damaged, everything else stays: it may be the rest of the data.
    if !repair_missing(array, options, findings)? {
        return Ok(false);
    }
    let extra = UncountedRows::of(array.storage())?;
    let settled = match options.uncounted {
        Uncounted::Drop => {
            remove(array, &extra, findings)?;
            true
        }
        Uncounted::Keep => keep(array, &extra, true, findings)?,
        Uncounted::Report if extra.is_appended() => keep(array, &extra, false, findings)?,
        Uncounted::Report => leave(array, &extra, findings)?,
    };
    recount(array, findings)?;
    Ok(settled)
}

/// The search for damaged chunks ends after this many.
const MAX_DAMAGES: usize = 1000;

/// Reports missing and damaged superchunks. Returns true if there are none, or if their rows were cut off.
fn repair_missing(
    array: &mut CArray,
    options: &RepairOptions,
    findings: &mut Vec<Finding>,
) -> Result<bool> {
    let (mut damaged, mut last_sound): (Vec<(u64, Error)>, Option<u64>) = (Vec::new(), None);
    for chunk in 0..array.chunks() {
        match array.storage().stored(chunk) {
            Ok(_) => last_sound = Some(chunk),
            Err(error) if matches!(error.category(), Category::Damaged | Category::CutShort) => {
                damaged.push((chunk, error));
            }
            // After an I/O error the chunk may still be sound.
            Err(error) => return Err(error),
        }
        if damaged.len() > MAX_DAMAGES {
            break;
        }
    }
    let Some((first, _)) = damaged.first() else {
        return Ok(true);
    };
    let is_at_end = last_sound.is_none_or(|sound| sound < *first) && damaged.len() <= MAX_DAMAGES;
    let grid = array.storage().grid();
    // Cannot divide by zero: there is a chunk, so a band has at least one.
    let rows = first / grid.chunks_per_band() * grid.band_rows();
    let cuts = is_at_end && options.cut;
    for (_, error) in &damaged {
        let remedy = match (cuts, is_at_end) {
            (true, _) => Remedy::Done(format!("cut the array off after {rows} rows")),
            (_, true) => Remedy::Left(format!(
                "cutting the array off would keep the first {rows} rows"
            )),
            (_, false) => {
                Remedy::Left("nothing can be done: restore the file from a copy".to_owned())
            }
        };
        note_error(findings, error, remedy);
    }
    if cuts {
        let files = array.storage().file_count();
        array.storage_mut().set_rows(rows)?;
        for number in array.storage().file_count()..files {
            array.storage().remove_file(number)?;
        }
    }
    Ok(cuts)
}

/// The message about uncounted rows.
fn uncounted(array: &CArray, more: u64) -> String {
    let counted = array.rows();
    let total = u128::from(counted) + u128::from(more);
    format!("the superchunks contain {total} rows, of which the dataset counts {counted}")
}

/// Counts uncounted rows. `partial` includes a last superchunk that is not full.
fn keep(
    array: &mut CArray,
    extra: &UncountedRows,
    partial: bool,
    findings: &mut Vec<Finding>,
) -> Result<bool> {
    let storage = array.storage();
    let more = extra.rows(storage, partial);
    if more == 0 {
        return leave(array, extra, findings);
    }
    let path = storage.spec().folder.clone();
    // Damaged rows are not counted.
    if let Err(error) = extra.check(storage) {
        let advice = "its rows are not counted: nothing was changed".to_owned();
        note_error(findings, &error, Remedy::Left(advice));
        return Ok(false);
    }
    let message = uncounted(array, more);
    // If the number of rows saturates, it is refused as too large.
    let rows = array.rows().saturating_add(more);
    let remedy = Remedy::Done(format!("counted all {rows} rows"));
    note(findings, path, message, remedy);
    array.storage_mut().set_rows(rows)?;
    let rest = UncountedRows::of(array.storage())?;
    leave(array, &rest, findings)
}

/// Reports uncounted superchunks. Returns true if there are none.
fn leave(array: &CArray, extra: &UncountedRows, findings: &mut Vec<Finding>) -> Result<bool> {
    for number in &extra.numbers {
        let advice =
            "its rows were appended and never counted, or cut off: choose to keep or to drop them";
        let key = array.storage().key(*number)?;
        note(findings, key, STALE, Remedy::Left(advice.to_owned()));
    }
    Ok(extra.numbers.is_empty())
}

/// Removes all uncounted rows.
fn remove(array: &mut CArray, extra: &UncountedRows, findings: &mut Vec<Finding>) -> Result<()> {
    if extra.in_last > 0 {
        let (message, rows) = (uncounted(array, extra.in_last), array.rows());
        let path = array.storage().spec().folder.clone();
        let remedy = Remedy::Done(format!("cut the last superchunk off after {rows} rows"));
        note(findings, path, message, remedy);
        array.storage_mut().trim(rows)?;
    }
    for number in &extra.numbers {
        let key = array.storage().key(*number)?;
        note(findings, &key, STALE, Remedy::Done("removed it".to_owned()));
        array.storage().remove_file(*number)?;
    }
    Ok(())
}

/// Corrects the count of compressed bytes. Readers do not need it, and programs that trim arrays get it wrong.
fn recount(array: &mut CArray, findings: &mut Vec<Finding>) -> Result<()> {
    if array.handle().is_shared_column() {
        return Ok(());
    }
    let storage = array.storage();
    let overhead = i64::from(storage.spec().chunk_overhead);
    let mut sum = 0i64;
    for chunk in 0..storage.grid().full_chunks() {
        let Ok(stored) = storage.stored(chunk) else {
            return Ok(());
        };
        // The count is informative, and saturates.
        let len = i64::from(stored.header.ctbytes).saturating_add(overhead);
        sum = sum.saturating_add(len);
    }
    let stated = array.stated_cbytes();
    if stated != sum && array.layout() != DatasetLayout::CarrayDocument {
        let message =
            format!("the compressed bytes of full chunks are counted as {stated}, but are {sum}");
        let path = crate::files::below(&array.handle().at, &["meta"])?;
        note(
            findings,
            path,
            message,
            Remedy::Done("corrected the count".to_owned()),
        );
        array.storage_mut().set_cbytes(sum);
    }
    Ok(())
}
