//! [`Reader`]: reads the rows of a partition that satisfy the conditions, block by block.

use crate::blocks::Blocks;
use crate::error::external;
use crate::kept::Kept;
use crate::meaning::cannot_fail;
use crate::prune::Pruner;
use crate::rows::Rows;
use crate::scan::{Scan, longest_chunk};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::cast::as_boolean_array;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_plan::metrics::{Count, MetricBuilder};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Reads the rows of a partition.
pub(crate) struct Reader {
    /// The path or URL of the input.
    location: String,
    rows: Arc<dyn Rows>,
    blocks: Blocks,
    /// The rows still to read.
    left: VecDeque<Range<u64>>,
    pruner: Option<Pruner>,
    /// The generation of the conditions that the pruner last saw.
    generation: Option<u64>,
    columns: Vec<usize>,
    schema: SchemaRef,
    conditions: Vec<Condition>,
    /// All columns to read, if they can only be read together.
    together: Option<Vec<usize>>,
    rows_read: Count,
    /// Rows skipped because of their zones' statistics.
    rows_skipped: Count,
    blocks_read: Count,
    /// Blocks in which no row satisfied the conditions.
    blocks_skipped: Count,
}

impl Reader {
    /// Reads these rows of a scan; they belong to one of its partitions.
    pub(crate) fn new(scan: &Scan, rows: Vec<Range<u64>>, partition: usize) -> Result<Self> {
        let conditions = conditions(scan)?;
        let tested = conditions.iter().flat_map(|condition| &condition.columns);
        let all: BTreeSet<usize> = scan.columns.iter().chain(tested).copied().collect();
        let all: Vec<usize> = all.into_iter().collect();
        let counted = |name| MetricBuilder::new(&scan.metrics).counter(name, partition);
        Ok(Self {
            blocks: Blocks::new(scan.row_bytes(&all), longest_chunk(&*scan.rows, &all)),
            left: rows.into(),
            location: scan.opened_by.to_string(),
            pruner: Pruner::new(scan)?,
            generation: None,
            rows: Arc::clone(&scan.rows),
            columns: scan.columns.clone(),
            schema: Arc::clone(&scan.schema),
            conditions,
            together: (!scan.rows.are_columns_apart()).then_some(all),
            rows_read: counted("rows_read"),
            rows_skipped: counted("rows_skipped"),
            blocks_read: counted("blocks_read"),
            blocks_skipped: counted("blocks_skipped"),
        })
    }

    /// The next block of rows to read.
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

    /// Skips rows by their zones, if the conditions have changed since the last call.
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

    /// Reads a block, and returns the rows that satisfy the conditions; `None` if there are none.
    ///
    /// The columns of a condition are read only for rows that the previous conditions have left.
    fn read(&self, block: Range<u64>) -> Result<Option<RecordBatch>> {
        self.rows_read.add(count(&block));
        let mut kept = Kept::all(block)?;
        for condition in &self.conditions {
            self.read_missing(&condition.columns, &mut kept)?;
            let tested = kept.batch(&condition.columns, &condition.schema)?;
            let which = condition.expr.evaluate(&tested)?;
            let which = which.into_array(tested.num_rows())?;
            if !kept.keep(as_boolean_array(&which)?)? {
                self.blocks_skipped.add(1);
                return Ok(None);
            }
        }
        self.blocks_read.add(1);
        self.read_missing(&self.columns, &mut kept)?;
        kept.batch(&self.columns, &self.schema).map(Some)
    }

    /// Reads those of `columns` that have not been read yet.
    fn read_missing(&self, columns: &[usize], kept: &mut Kept) -> Result<()> {
        let columns = self.together.as_deref().unwrap_or(columns);
        let missing = kept.missing(columns);
        if missing.is_empty() {
            return Ok(());
        }
        let read = self.rows.read(&missing, kept.rows());
        // Errors of datasets name files relative to the dataset.
        let read = read.map_err(|error| external(error).context(self.location.clone()))?;
        kept.add(&missing, &read)
    }
}

/// A condition, or several on the same columns.
struct Condition {
    columns: Vec<usize>,
    /// These columns.
    schema: SchemaRef,
    /// The condition, for a batch of these columns only.
    expr: Arc<dyn PhysicalExpr>,
}

impl Condition {
    fn new(scan: &Scan, columns: Vec<usize>, exprs: Vec<Arc<dyn PhysicalExpr>>) -> Result<Self> {
        let schema = Arc::new(scan.rows.schema().project(&columns)?);
        Ok(Self {
            expr: reassign_expr_columns(conjunction(exprs), &schema)?,
            columns,
            schema,
        })
    }
}

/// The conditions of a scan, those on short columns first.
fn conditions(scan: &Scan) -> Result<Vec<Condition>> {
    let mut by_columns: BTreeMap<(bool, BTreeSet<usize>), Vec<_>> = BTreeMap::new();
    for expr in &scan.conditions {
        let columns = collect_columns(expr);
        let columns = columns.iter().map(|column| column.index()).collect();
        let may_fail = !cannot_fail(expr, scan.rows.schema());
        by_columns
            .entry((may_fail, columns))
            .or_default()
            .push(Arc::clone(expr));
    }
    let conditions = by_columns
        .into_iter()
        .map(|((_, columns), exprs)| Condition::new(scan, columns.into_iter().collect(), exprs));
    let mut conditions = conditions.collect::<Result<Vec<_>>>()?;
    // Conditions that may fail come last. They then see only rows that satisfy the others, with or without an index.
    conditions.sort_by_key(|condition| {
        let may_fail = !cannot_fail(&condition.expr, &condition.schema);
        (may_fail, scan.row_bytes(&condition.columns))
    });
    Ok(conditions)
}

/// A number of rows for the statistics.
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
