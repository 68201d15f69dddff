//! [`Kept`]: the rows of a block that the conditions so far have left, and their columns.

use datafusion::arrow::array::{
    Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions,
};
use datafusion::arrow::compute::{filter, prep_null_mask_filter};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, internal_datafusion_err};
use std::collections::BTreeMap;
use std::ops::Range;

/// The rows of a block that are left, and their values in the columns read so far.
pub(crate) struct Kept {
    /// The range from the first row that is left to the last.
    rows: Range<u64>,
    /// Which rows of the range are left; `None` for all of them.
    mask: Option<BooleanArray>,
    /// The number of rows that are left.
    count: usize,
    columns: BTreeMap<usize, ArrayRef>,
}

impl Kept {
    /// All rows of a block.
    pub(crate) fn all(rows: Range<u64>) -> Result<Self> {
        let count = usize::try_from(rows.end - rows.start);
        Ok(Self {
            count: count.map_err(|_| internal_datafusion_err!("rows {rows:?} at once"))?,
            rows,
            mask: None,
            columns: BTreeMap::new(),
        })
    }

    /// Those of `columns` that have not been read yet.
    pub(crate) fn missing(&self, columns: &[usize]) -> Vec<usize> {
        let columns = columns.iter().copied();
        columns
            .filter(|column| !self.columns.contains_key(column))
            .collect()
    }

    /// The rows to read of further columns.
    pub(crate) fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }

    /// Adds further columns that were read.
    pub(crate) fn add(&mut self, columns: &[usize], read: &RecordBatch) -> Result<()> {
        for (column, array) in columns.iter().zip(read.columns()) {
            let kept = match &self.mask {
                Some(mask) => filter(array, mask)?,
                None => array.clone(),
            };
            self.columns.insert(*column, kept);
        }
        Ok(())
    }

    /// Keeps the rows for which `which` is true, one element for each row that is left. Returns whether any row is left.
    pub(crate) fn keep(&mut self, which: &BooleanArray) -> Result<bool> {
        let which = match which.null_count() {
            0 => which.clone(),
            _ => prep_null_mask_filter(which),
        };
        self.count = which.true_count();
        if self.count == 0 || self.count == which.len() {
            return Ok(self.count > 0);
        }
        for array in self.columns.values_mut() {
            *array = filter(array, &which)?;
        }
        let mask = match &self.mask {
            Some(mask) => refined(mask, &which),
            None => which,
        };
        self.narrow(mask)?;
        Ok(true)
    }

    /// Narrows the range to the first and last row that are left, so that further columns read no more than that.
    fn narrow(&mut self, mask: BooleanArray) -> Result<()> {
        let mut set = mask.values().set_indices();
        let first = set.next().unwrap_or(0);
        let last = set.last().unwrap_or(first);
        let position = |row: usize| self.rows.start.checked_add(u64::try_from(row).ok()?);
        self.rows = match (position(first), position(last + 1)) {
            (Some(start), Some(end)) if end <= self.rows.end => start..end,
            _ => {
                let rows = &self.rows;
                return Err(internal_datafusion_err!(
                    "rows {first} to {last} of {rows:?}"
                ));
            }
        };
        self.mask = Some(mask.slice(first, last + 1 - first));
        Ok(())
    }

    /// A batch of these columns, all of which must have been read.
    pub(crate) fn batch(&self, columns: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        let arrays = columns.iter().map(|column| {
            let array = self.columns.get(column).cloned();
            array.ok_or_else(|| internal_datafusion_err!("column {column} was not read"))
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(self.count));
        Ok(RecordBatch::try_new_with_options(
            SchemaRef::clone(schema),
            arrays,
            &rows,
        )?)
    }
}

/// The mask, restricted by `which`, which has an element for each set bit.
fn refined(mask: &BooleanArray, which: &BooleanArray) -> BooleanArray {
    let mut refined = vec![false; mask.len()];
    let set = mask.values().set_indices().zip(which.values().iter());
    for (row, is_left) in set {
        if let Some(row) = refined.get_mut(row) {
            *row = is_left;
        }
    }
    BooleanArray::from(refined)
}

#[cfg(test)]
mod tests {
    use super::Kept;
    use datafusion::arrow::array::{Array as _, ArrayRef, BooleanArray, Int32Array, RecordBatch};
    use std::sync::Arc;

    fn batch(values: Vec<i32>) -> RecordBatch {
        let column: ArrayRef = Arc::new(Int32Array::from(values));
        RecordBatch::try_from_iter([("x", column)]).unwrap()
    }

    #[test]
    fn conditions_narrow_what_is_read_next() {
        let mut kept = Kept::all(100..108).unwrap();
        let first = batch(vec![0, 1, 2, 3, 4, 5, 6, 7]);
        kept.add(&[3], &first).unwrap();
        let odd = [
            Some(false),
            Some(true),
            None,
            Some(true),
            None,
            Some(true),
            None,
            Some(true),
        ];
        assert!(kept.keep(&BooleanArray::from(odd.to_vec())).unwrap());
        assert_eq!(kept.rows(), 101..108);
        assert!(
            kept.keep(&BooleanArray::from(vec![false, true, true, false]))
                .unwrap()
        );
        assert_eq!(kept.rows(), 103..106);
        assert_eq!(kept.missing(&[1, 3]), [1]);

        kept.add(&[1], &batch(vec![30, 40, 50])).unwrap();
        let schema = |name| {
            batch(vec![]).schema().as_ref().clone().fields()[0]
                .as_ref()
                .clone()
                .with_name(name)
        };
        let schema = Arc::new(datafusion::arrow::datatypes::Schema::new(vec![
            schema("b"),
            schema("a"),
        ]));
        let output = kept.batch(&[1, 3], &schema).unwrap();
        let values = |column: usize| {
            output
                .column(column)
                .as_any()
                .downcast_ref::<Int32Array>()
                .unwrap()
                .values()
                .to_vec()
        };
        assert_eq!((values(0), values(1)), (vec![30, 50], vec![3, 5]));
        assert!(!kept.keep(&BooleanArray::from(vec![false, false])).unwrap());
    }
}
