//! [`Scan`]: reads rows of an input, as a source of DataFusion.

use crate::blocks::{Blocks, split};
use crate::checked::Checked;
use crate::error::external;
use crate::open::OpenedBy;
use crate::prune::Pruner;
use crate::rows::{Planned, Rows};
use datafusion::arrow::array::{Array as _, BooleanArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::{and_kleene, filter_record_batch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::cast::as_boolean_array;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_datafusion_err};
use datafusion::datasource::source::DataSource;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Batches that wait to be taken from a partition.
const WAITING: usize = 2;

/// Some columns of the rows of an input that fulfil conditions.
///
/// Each partition is a range of rows, which a thread of its own reads block by block; it is never more than two batches ahead,
/// and stops when its stream is dropped.
#[derive(Clone)]
pub(crate) struct Scan {
    pub rows: Arc<dyn Rows>,
    opened_by: Arc<OpenedBy>,
    /// The columns of the output.
    pub columns: Vec<usize>,
    schema: SchemaRef,
    pub partitions: Vec<Range<u64>>,
    /// Conditions on all columns of the input; a row has to fulfil each of them.
    pub conditions: Vec<Arc<dyn PhysicalExpr>>,
    metrics: ExecutionPlanMetricsSet,
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Default, f)
    }
}

impl Scan {
    /// A scan of these columns and rows, in up to so many partitions.
    pub(crate) fn new(
        rows: Arc<dyn Rows>,
        opened_by: Arc<OpenedBy>,
        columns: Vec<usize>,
        range: Range<u64>,
        partitions: usize,
    ) -> Result<Self> {
        let schema = Arc::new(rows.schema().project(&columns)?);
        let chunk_rows = longest_chunk(&*rows, &columns);
        Ok(Self {
            partitions: split(&range, chunk_rows, partitions),
            rows,
            opened_by,
            columns,
            schema,
            conditions: Vec::new(),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The scan that another process has planned, which also says what rows to read.
    pub(crate) fn of_plan(
        rows: Arc<Planned>,
        columns: Vec<usize>,
        conditions: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Self> {
        Ok(Self {
            schema: Arc::new(rows.schema().project(&columns)?),
            opened_by: Arc::clone(&rows.opened_by),
            rows,
            columns,
            partitions: Vec::new(),
            conditions,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The columns by their names.
    fn names(&self) -> Vec<&str> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().as_str()).collect()
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The batches of these rows, which a thread of its own reads.
    pub(crate) fn stream(
        &self,
        rows: Vec<Range<u64>>,
        partition: usize,
    ) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.schema), WAITING);
        let (to, scan) = (stream.tx(), self.clone());
        stream.spawn_blocking(move || {
            for batch in scan.batches(rows, partition)? {
                let has_failed = batch.is_err();
                if to.blocking_send(batch).is_err() || has_failed {
                    break;
                }
            }
            Ok(())
        });
        stream.build()
    }

    /// The batches of these rows.
    fn batches(
        &self,
        rows: Vec<Range<u64>>,
        partition: usize,
    ) -> Result<Box<dyn Iterator<Item = Result<RecordBatch>>>> {
        let reader = self.reader(rows, partition)?;
        Ok(match self.rows.planned() {
            Some(planned) => Box::new(Checked::new(reader, &planned.opened_by)),
            None => Box::new(reader),
        })
    }

    /// Reads these rows.
    fn reader(&self, rows: Vec<Range<u64>>, partition: usize) -> Result<Reader> {
        let names = self.conditions.iter().flat_map(collect_columns);
        let mut tested: Vec<usize> = names.map(|column| column.index()).collect();
        tested.sort_unstable();
        tested.dedup();
        let tested_schema = Arc::new(self.rows.schema().project(&tested)?);
        let conditions = self
            .conditions
            .iter()
            .map(|condition| reassign_expr_columns(Arc::clone(condition), &tested_schema));
        let conditions = conditions.collect::<Result<Vec<_>>>()?;
        let all: Vec<usize> = self.columns.iter().chain(&tested).copied().collect();
        let row_bytes = all.iter().map(|column| self.rows.row_bytes(*column));
        // A row of any length is read; saturated, it is read alone.
        let row_bytes = row_bytes.fold(0, u64::saturating_add);
        let counted = |name| MetricBuilder::new(&self.metrics).counter(name, partition);
        Ok(Reader {
            blocks: Blocks::new(row_bytes, longest_chunk(&*self.rows, &all)),
            left: rows.into(),
            location: self.opened_by.to_string(),
            pruner: Pruner::new(&self.rows, &tested, &tested_schema, &conditions),
            generation: None,
            rows: Arc::clone(&self.rows),
            columns: self.columns.clone(),
            schema: Arc::clone(&self.schema),
            tested,
            conditions,
            rows_read: counted("rows_read"),
            rows_skipped: counted("rows_skipped"),
            blocks_read: counted("blocks_read"),
            blocks_skipped: counted("blocks_skipped"),
        })
    }
}

fn longest_chunk(rows: &dyn Rows, columns: &[usize]) -> u64 {
    let chunks = columns.iter().map(|column| rows.chunk_rows(*column));
    chunks.max().unwrap_or(1)
}

/// Reads the rows of a partition.
struct Reader {
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

fn count(rows: &Range<u64>) -> usize {
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

impl DataSource for Scan {
    fn open(
        &self,
        partition: usize,
        _context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.partitions.get(partition).cloned();
        let rows =
            rows.ok_or_else(|| internal_datafusion_err!("partition {partition} of {self:?}"))?;
        Ok(self.stream(vec![rows], partition))
    }

    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bloscpack={}, columns=[{}]",
            self.opened_by,
            self.names().join(", ")
        )?;
        write!(f, ", partitions={}", self.partitions.len())?;
        if !self.conditions.is_empty() {
            let conditions: Vec<_> = self.conditions.iter().map(ToString::to_string).collect();
            write!(f, ", predicate={}", conditions.join(" AND "))?;
        }
        Ok(())
    }

    fn repartitioned(
        &self,
        target: usize,
        _: usize,
        ordering: Option<LexOrdering>,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        let (Some(first), Some(last)) = (self.partitions.first(), self.partitions.last()) else {
            return Ok(None);
        };
        let partitions = split(
            &(first.start..last.end),
            longest_chunk(&*self.rows, &self.columns),
            target,
        );
        if ordering.is_some() || partitions.len() <= self.partitions.len() {
            return Ok(None);
        }
        Ok(Some(Arc::new(Self {
            partitions,
            ..self.clone()
        })))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.partitions.len())
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(&self.schema))
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let ranges = match partition {
            Some(partition) => self
                .partitions
                .get(partition..=partition)
                .unwrap_or_default(),
            None => &self.partitions,
        };
        let rows = ranges.iter().map(count).fold(0, usize::saturating_add);
        let mut statistics = Statistics::new_unknown(&self.schema);
        statistics.num_rows = match self.conditions.is_empty() {
            true => Precision::Exact(rows),
            false => Precision::Inexact(rows),
        };
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, _: Option<usize>) -> Option<Arc<dyn DataSource>> {
        // The limit above drops the stream as soon as it has its rows.
        None
    }

    fn fetch(&self) -> Option<usize> {
        None
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        let columns = projection.iter().map(|projected| {
            let column = projected.expr.downcast_ref::<Column>()?;
            let index = self.columns.get(column.index())?;
            (column.name() == projected.alias).then_some(*index)
        });
        let Some(columns) = columns.collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        let schema = Arc::new(self.rows.schema().project(&columns)?);
        Ok(Some(Arc::new(Self {
            columns,
            schema,
            ..self.clone()
        })))
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn DataSource>>> {
        let mut scan = self.clone();
        let taken = vec![PushedDown::Yes; filters.len()];
        for filter in filters {
            let filter = reassign_expr_columns(filter, self.rows.schema())?;
            scan.conditions.push(filter);
        }
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(taken);
        Ok(answer.with_updated_node(Arc::new(scan)))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut next = TreeNodeRecursion::Continue;
        for condition in &self.conditions {
            next = f(condition)?;
            if next == TreeNodeRecursion::Stop {
                break;
            }
        }
        Ok(next)
    }
}
