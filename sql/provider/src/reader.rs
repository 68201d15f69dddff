//! [`Reader`]: the rows of a partition that fulfil its conditions, block by block.

use crate::blocks::Blocks;
use crate::error::external;
use crate::prune::Pruner;
use crate::rows::Rows;
use crate::scan::{Scan, longest_chunk};
use datafusion::arrow::array::{Array as _, BooleanArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::{and_kleene, filter_record_batch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_plan::metrics::{Count, MetricBuilder};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Reads the rows of a partition.
pub(crate) struct Reader {
    /// The path or URL of the input.
    location: String,
    rows: Arc<dyn Rows>,
    blocks: Blocks,
    /// The rows that are still to be read.
    left: VecDeque<Range<u64>>,
    pruner: Option<Pruner>,
    /// The state of the conditions when the pruner last saw them.
    generation: Option<u64>,
    columns: Vec<usize>,
    schema: SchemaRef,
    /// The columns that conditions name.
    tested: Vec<usize>,
    /// The conditions on these columns alone.
    conditions: Vec<Arc<dyn PhysicalExpr>>,
    rows_read: Count,
    /// Rows that were left out by what is known of their zones.
    rows_skipped: Count,
    blocks_read: Count,
    /// Blocks in which no row fulfilled the conditions.
    blocks_skipped: Count,
}

impl Reader {
    /// Reads these rows of a scan, which belong to a partition of it.
    pub(crate) fn new(scan: &Scan, rows: Vec<Range<u64>>, partition: usize) -> Result<Self> {
        let names = scan.conditions.iter().flat_map(collect_columns);
        let mut tested: Vec<usize> = names.map(|column| column.index()).collect();
        tested.sort_unstable();
        tested.dedup();
        let tested_schema = Arc::new(scan.rows.schema().project(&tested)?);
        let conditions = scan
            .conditions
            .iter()
            .map(|condition| reassign_expr_columns(Arc::clone(condition), &tested_schema));
        let conditions = conditions.collect::<Result<Vec<_>>>()?;
        let all: Vec<usize> = scan.columns.iter().chain(&tested).copied().collect();
        let row_bytes = all.iter().map(|column| scan.rows.row_bytes(*column));
        // A row of any length is read; saturated, it is read alone.
        let row_bytes = row_bytes.fold(0, u64::saturating_add);
        let counted = |name| MetricBuilder::new(&scan.metrics).counter(name, partition);
        Ok(Self {
            blocks: Blocks::new(row_bytes, longest_chunk(&*scan.rows, &all)),
            left: rows.into(),
            location: scan.opened_by.to_string(),
            pruner: Pruner::new(&scan.rows, &tested, &tested_schema, &conditions),
            generation: None,
            rows: Arc::clone(&scan.rows),
            columns: scan.columns.clone(),
            schema: Arc::clone(&scan.schema),
            tested,
            conditions,
            rows_read: counted("rows_read"),
            rows_skipped: counted("rows_skipped"),
            blocks_read: counted("blocks_read"),
            blocks_skipped: counted("blocks_skipped"),
        })
    }

    /// The next rows to read.
    fn next_block(&mut self) -> Result<Option<Range<u64>>> {
        self.prune()?;
        while let Some(run) = self.left.front_mut() {
            if let Some(block) = self.blocks.take(run) {
                return Ok(Some(block));
            }
            self.left.pop_front();
        }
        Ok(None)
    }

    /// Leaves out rows by what is known of their zones, if the conditions are not those of the last time.
    fn prune(&mut self) -> Result<()> {
        let Some(pruner) = &self.pruner else {
            return Ok(());
        };
        let generation = Some(pruner.generation());
        if self.generation == generation {
            return Ok(());
        }
        self.generation = generation;
        let mut left = VecDeque::new();
        for run in std::mem::take(&mut self.left) {
            let kept = pruner.left(&run)?;
            let kept_rows = kept.iter().map(count).fold(0, usize::saturating_add);
            self.rows_skipped.add(count(&run).saturating_sub(kept_rows));
            left.extend(kept);
        }
        self.left = left;
        Ok(())
    }

    /// The next rows that fulfil the conditions; `None` if there is none in this block.
    fn read(&self, block: Range<u64>) -> Result<Option<RecordBatch>> {
        let read = |columns: &[usize], rows: Range<u64>| {
            self.rows_read.add(count(&rows));
            let read = self.rows.read(columns, rows);
            // Errors of datasets name files by their paths within.
            read.map_err(|error| external(error).context(self.location.clone()))
        };
        if self.conditions.is_empty() {
            self.blocks_read.add(1);
            return read(&self.columns, block).map(Some);
        }
        let tested = read(&self.tested, block.clone())?;
        let Some(mask) = self.mask(&tested)? else {
            self.blocks_skipped.add(1);
            return Ok(None);
        };
        self.blocks_read.add(1);
        // Rows before the first and after the last that are wanted stay compressed.
        let (first, len) = extent(&mask);
        let mask = mask.slice(first, len);
        let rows = within(&block, first, len)?;
        let others = self.columns.iter().copied();
        let others: Vec<usize> = others
            .filter(|column| !self.tested.contains(column))
            .collect();
        let rest = match others.is_empty() {
            true => None,
            false => Some(filter_record_batch(&read(&others, rows)?, &mask)?),
        };
        let tested = filter_record_batch(&tested.slice(first, len), &mask)?;
        self.output(&tested, rest.as_ref(), &others).map(Some)
    }

    /// Which rows fulfil all conditions; `None` if there is none.
    fn mask(&self, tested: &RecordBatch) -> Result<Option<BooleanArray>> {
        let mut all: Option<BooleanArray> = None;
        for condition in &self.conditions {
            let value = condition.evaluate(tested)?.into_array(tested.num_rows())?;
            let mask = as_boolean_array(&value)?;
            all = Some(match all {
                None => mask.clone(),
                Some(all) => and_kleene(&all, mask)?,
            });
        }
        Ok(all.filter(|all| all.true_count() > 0))
    }

    /// The columns of the output, from those with conditions and the others.
    fn output(
        &self,
        tested: &RecordBatch,
        rest: Option<&RecordBatch>,
        others: &[usize],
    ) -> Result<RecordBatch> {
        let arrays = self.columns.iter().map(|column| {
            let among = |columns: &[usize]| columns.iter().position(|other| other == column);
            let array = match (among(&self.tested), among(others), rest) {
                (Some(index), ..) => tested.columns().get(index),
                (None, Some(index), Some(rest)) => rest.columns().get(index),
                _ => None,
            };
            array
                .cloned()
                .ok_or_else(|| internal_datafusion_err!("column {column} was not read"))
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(tested.num_rows()));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            arrays,
            &rows,
        )?)
    }
}

/// The position of the first row that is wanted, and how many there are up to the last.
fn extent(mask: &BooleanArray) -> (usize, usize) {
    let is_wanted = |row: &usize| mask.is_valid(*row) && mask.value(*row);
    let first = (0..mask.len()).find(is_wanted).unwrap_or(0);
    let last = (0..mask.len()).rev().find(is_wanted).unwrap_or(0);
    (first, last + 1 - first)
}

/// These rows of a block.
fn within(block: &Range<u64>, first: usize, len: usize) -> Result<Range<u64>> {
    let position = |row: usize| {
        let row = u64::try_from(row).ok();
        row.and_then(|row| block.start.checked_add(row))
    };
    match (position(first), position(first + len)) {
        (Some(start), Some(end)) if end <= block.end => Ok(start..end),
        _ => Err(internal_datafusion_err!(
            "rows {first} to {} of {block:?}",
            first + len
        )),
    }
}

/// A number of rows, as statistics have it.
pub(crate) fn count(rows: &Range<u64>) -> usize {
    // Saturates: the count is only shown.
    usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX)
}

impl Iterator for Reader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let read = match self.next_block() {
                Ok(None) => return None,
                Ok(Some(block)) => self.read(block),
                Err(error) => Err(error),
            };
            if let Some(read) = read.transpose() {
                return Some(read);
            }
        }
    }
}
