//! [`ColumnIndex`]: the statistics of a column in a dataset's index.

use super::zones::Zones;
use super::{at, in_memory};
use crate::meaning::comparable_array;
use bloscpack::dtype::Kind;
use bloscpack::{Error, Result};
use bloscpack_open::array::{Array, Zone, Zones as Known, first_len};
use bloscpack_open::exchange::{Batch, BatchConverter};
use datafusion::arrow::array::{ArrayRef, AsArray as _, BooleanArray, UInt64Array};
use datafusion::arrow::compute::{cast, nullif};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::error::ArrowError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The statistics of a column; each superchunk is a zone.
pub(super) struct ColumnIndex {
    pub zones: Zones,
    /// Whether the statistics match the data, for each zone that was compared.
    compared: Mutex<HashMap<usize, bool>>,
}

impl ColumnIndex {
    /// Reads the index of a column; `None` if it has no usable one.
    pub(super) fn read(array: &dyn Array, converter: &BatchConverter) -> Result<Option<Self>> {
        let Some(known) = array.zones() else {
            return Ok(None);
        };
        let zones = zones(array, known, converter)?;
        Ok(zones.map(|zones| Self {
            zones,
            compared: Mutex::default(),
        }))
    }

    /// Whether the statistics of a zone match the current data.
    pub(super) fn holds(&self, array: &dyn Array, zone: usize) -> Result<bool> {
        let compared = || self.compared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holds) = compared().get(&zone) {
            return Ok(*holds);
        }
        let number = u64::try_from(zone).map_err(|_| Error::bug("a zone"))?;
        let holds = match array.zones() {
            Some(known) => known.holds(number)?,
            None => false,
        };
        compared().insert(zone, holds);
        Ok(holds)
    }
}

/// The zones of an index; `None` if no superchunk has statistics.
fn zones(
    array: &dyn Array,
    known: &dyn Known,
    converter: &BatchConverter,
) -> Result<Option<Zones>> {
    let (rows, all) = (known.rows().max(1), first_len(array.grid().shape()));
    // The counts may promise any number of superchunks; only the entries that exist are used.
    let described = known.len().min(all.div_ceil(rows));
    let mut entries: Vec<Option<Zone<'_>>> =
        (0..described).map(|number| known.zone(number)).collect();
    if entries.iter().all(Option::is_none) {
        return Ok(None);
    }
    let starts = (0..=described).map(|number| number.saturating_mul(rows));
    let mut starts: Vec<u64> = starts.map(|start| start.min(all)).collect();
    if starts.last() < Some(&all) {
        starts.push(all);
        entries.push(None);
    }
    // NaN is an ordinary value in Arrow, unless it marks missing values here.
    let has_nulls = matches!(array.dtype().kind(), Kind::Datetime(_) | Kind::Timedelta(_))
        || converter
            .schema()
            .fields()
            .iter()
            .any(|field| field.is_nullable());
    let nulls = entries
        .iter()
        .map(|entry| entry.map(|entry| if has_nulls { entry.nulls } else { 0 }));
    let is_float = matches!(array.dtype().kind(), Kind::Float);
    // In the index, the sign of a NaN determines its place; in a query, NaN is greater than every other value.
    let max = column(array, &entries, converter, |zone| {
        let (_, max) = zone.bounds?;
        (!is_float || zone.nulls == 0).then_some(max)
    })?;
    let min = column(array, &entries, converter, |zone| Some(zone.bounds?.0))?;
    let min = if is_float { without_nan(&min)? } else { min };
    Ok(Some(Zones {
        starts,
        min,
        max,
        nulls: Arc::new(UInt64Array::from_iter(nulls)),
    }))
}

/// Floats, with null for NaN.
fn without_nan(floats: &ArrayRef) -> Result<ArrayRef> {
    let failed = |error: ArrowError| Error::bug(error.to_string());
    let doubles = cast(floats, &DataType::Float64).map_err(failed)?;
    let is_nan = BooleanArray::from_unary(doubles.as_primitive::<Float64Type>(), f64::is_nan);
    nullif(floats, &is_nan).map_err(failed)
}

/// An array with one value for each entry.
fn column<'a>(
    array: &dyn Array,
    entries: &[Option<Zone<'a>>],
    converter: &BatchConverter,
    of: impl Fn(Zone<'a>) -> Option<&'a [u8]>,
) -> Result<ArrayRef> {
    let zero = vec![0; in_memory(array.dtype().itemsize())?];
    let values: Vec<Option<&[u8]>> = entries.iter().map(|zone| zone.and_then(&of)).collect();
    let bytes: Vec<&[u8]> = values.iter().map(|value| value.unwrap_or(&zero)).collect();
    let batch = converter.convert(Batch {
        rows: u64::try_from(entries.len()).map_err(|_| Error::bug("zones"))?,
        columns: vec![bytes.concat()],
        ..Batch::default()
    })?;
    let is_unknown = BooleanArray::from_iter(values.iter().map(|value| Some(value.is_none())));
    let known = nullif(at(batch.columns(), 0)?, &is_unknown);
    let known = known.map_err(|error| Error::bug(error.to_string()))?;
    comparable_array(&known).map_err(|error| Error::bug(error.to_string()))
}
