//! Reduces many numbers to few pixels.

use crate::number::{is_number, number};
use bloscpack::{Error, Result};
use bloscpack_open::exchange::Source;
use serde_json::{Value, json};

/// Bytes per read.
const BATCH: usize = 4 << 20;

/// Passes every element of the only column to `take`, with its position in C order.
fn each(source: &mut dyn Source, mut take: impl FnMut(u64, Option<f64>)) -> Result<()> {
    let schema = source.schema().clone();
    let [column] = schema.columns.as_slice() else {
        return Err(Error::usage("choose a single column to draw"));
    };
    if !is_number(&column.dtype) || schema.has_varying() {
        return Err(Error::usage(format!(
            "elements of {} cannot be drawn",
            column.dtype
        )));
    }
    let size = usize::try_from(column.dtype.itemsize()).unwrap_or(usize::MAX);
    let mut at = 0;
    while let Some(batch) = source.next_batch(BATCH)? {
        for element in batch
            .columns
            .iter()
            .flat_map(|bytes| bytes.chunks_exact(size.max(1)))
        {
            take(at, number(&column.dtype, element));
            at += 1;
        }
    }
    Ok(())
}

/// The number of elements; `None` if 64 bits cannot count them.
fn elements(source: &dyn Source) -> Option<u64> {
    let column = source.schema().columns.first()?;
    source.rows()?.checked_mul(column.row_len())
}

/// The least and the greatest number in each of `bins` bins; `null` for a bin without numbers.
pub fn extremes(source: &mut dyn Source, bins: usize) -> Result<Value> {
    let total = elements(source).unwrap_or(u64::MAX);
    let bins = bins
        .clamp(1, 8192)
        .min(usize::try_from(total).unwrap_or(usize::MAX).max(1));
    let mut found: Vec<Option<(f64, f64)>> = vec![None; bins];
    let mut missing = 0_u64;
    let count = u64::try_from(bins).unwrap_or(u64::MAX);
    each(source, |at, number| {
        let Some(number) = number else {
            missing += 1;
            return;
        };
        if let Some(bin) = bin_of(at, total, count).and_then(|bin| found.get_mut(bin)) {
            let (least, greatest) = bin.unwrap_or((number, number));
            *bin = Some((least.min(number), greatest.max(number)));
        }
    })?;
    Ok(json!({"elements": total, "missing": missing, "bins": found}))
}

fn bin_of(at: u64, total: u64, bins: u64) -> Option<usize> {
    let bin = u128::from(at) * u128::from(bins) / u128::from(total.max(1));
    usize::try_from(bin).ok()
}

/// The means of the cells of a grid of at most `most` by `most`, over a plane with `width` elements per line.
pub fn grid(source: &mut dyn Source, width: u64, most: u64) -> Result<Value> {
    let total = elements(source).unwrap_or(u64::MAX);
    let width = width.clamp(1, total.max(1));
    let height = total / width;
    let (columns, rows) = (width.min(most), height.min(most));
    let cells = usize::try_from(columns.saturating_mul(rows)).unwrap_or(usize::MAX);
    let mut sums = vec![(0.0_f64, 0_u32); cells];
    each(source, |at, number| {
        let place = || {
            let row = bin_of(at / width, height, rows)?;
            let column = bin_of(at % width, width, columns)?;
            row.checked_mul(usize::try_from(columns).ok()?)?
                .checked_add(column)
        };
        if let (Some(number), Some((sum, count))) =
            (number, place().and_then(|at| sums.get_mut(at)))
        {
            *sum += number;
            *count += 1;
        }
    })?;
    let means = sums
        .into_iter()
        .map(|(sum, count)| (count > 0).then(|| sum / f64::from(count)));
    Ok(json!({"columns": columns, "rows": rows, "cells": Vec::from_iter(means)}))
}
