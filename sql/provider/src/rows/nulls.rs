//! [`NanAsNull`]: rows in which NaN is null.

use super::{Rows, Zones};
use bloscpack::Result;
use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray as _, PrimitiveArray, RecordBatch, UInt64Array,
};
use datafusion::arrow::datatypes::{
    DataType, Field, Float16Type, Float32Type, Float64Type, Schema, SchemaRef,
};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Rows that replace NaN in float columns by null.
pub(super) struct NanAsNull {
    rows: Arc<dyn Rows>,
    schema: SchemaRef,
    /// For each float column, the statistics without the number of nulls.
    zones: Vec<OnceLock<Option<Zones>>>,
}

impl NanAsNull {
    pub(super) fn new(rows: Arc<dyn Rows>) -> Self {
        let fields = rows.schema().fields().iter();
        let fields = fields.map(|field| {
            let field = Field::clone(field);
            if field.data_type().is_floating() {
                field.with_nullable(true)
            } else {
                field
            }
        });
        let schema = Schema::new(fields.collect::<Vec<_>>());
        Self {
            schema: Arc::new(schema),
            zones: rows
                .schema()
                .fields()
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
            rows,
        }
    }

    fn is_float(&self, column: usize) -> bool {
        let field = self.schema.fields().get(column);
        field.is_some_and(|field| field.data_type().is_floating())
    }
}

impl Rows for NanAsNull {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn chunk_rows(&self, column: usize) -> u64 {
        self.rows.chunk_rows(column)
    }

    fn row_bytes(&self, column: usize) -> u64 {
        self.rows.row_bytes(column)
    }

    fn zones(&self, column: usize) -> Option<&Zones> {
        let zones = self.rows.zones(column)?;
        if !self.is_float(column) {
            return Some(zones);
        }
        let without_nulls = || {
            Some(Zones {
                starts: zones.starts.clone(),
                min: Arc::clone(&zones.min),
                max: Arc::clone(&zones.max),
                nulls: Arc::new(UInt64Array::new_null(zones.nulls.len())),
            })
        };
        self.zones.get(column)?.get_or_init(without_nulls).as_ref()
    }

    fn zone_holds(&self, column: usize, zone: usize) -> Result<bool> {
        self.rows.zone_holds(column, zone)
    }

    fn are_columns_apart(&self) -> bool {
        self.rows.are_columns_apart()
    }

    fn read(&self, columns: &[usize], rows: Range<u64>) -> Result<RecordBatch> {
        let batch = self.rows.read(columns, rows.clone())?;
        let arrays = batch.columns().iter().map(without_nan).collect();
        super::batch_of(&self.schema, columns, arrays, rows)
    }
}

/// The array with null in place of NaN.
fn without_nan(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Float16 => kept::<Float16Type>(array, |float| !float.is_nan()),
        DataType::Float32 => kept::<Float32Type>(array, |float| !float.is_nan()),
        DataType::Float64 => kept::<Float64Type>(array, |float| !float.is_nan()),
        _ => Arc::clone(array),
    }
}

/// The array without the values that `keep` rejects.
fn kept<T: ArrowPrimitiveType>(array: &ArrayRef, keep: impl Fn(T::Native) -> bool) -> ArrayRef {
    let array: &PrimitiveArray<T> = array.as_primitive();
    Arc::new(array.unary_opt::<_, T>(|value| keep(value).then_some(value)))
}
