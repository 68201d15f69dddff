//! [`Scan`]: a DataFusion source that reads rows of an input.

use crate::blocks::split;
use crate::checked::Checked;
use crate::open::OpenedBy;
use crate::reader::{Reader, count};
use crate::rows::{Planned, Rows};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_datafusion_err};
use datafusion::datasource::source::DataSource;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::reassign_expr_columns;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::stream::RecordBatchReceiverStreamBuilder;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of finished batches that wait in a partition.
const WAITING: usize = 2;

/// Reads some columns of the rows of an input that satisfy conditions.
///
/// Each partition is a range of rows, read block by block by a thread of its own. The thread is at most two batches ahead,
/// and stops when its stream is dropped.
#[derive(Clone)]
pub(crate) struct Scan {
    pub rows: Arc<dyn Rows>,
    pub opened_by: Arc<OpenedBy>,
    /// The columns of the output.
    pub columns: Vec<usize>,
    pub schema: SchemaRef,
    pub partitions: Vec<Range<u64>>,
    /// Conditions on all columns of the input; a row must satisfy all of them.
    pub conditions: Vec<Arc<dyn PhysicalExpr>>,
    pub metrics: ExecutionPlanMetricsSet,
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as(DisplayFormatType::Default, f)
    }
}

impl Scan {
    /// A scan of these columns and rows, in up to `partitions` partitions.
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

    /// A scan that another process has planned. It has no rows of its own; a `Parts` node supplies them.
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

    /// The approximate number of bytes of a row of these columns.
    pub(crate) fn row_bytes(&self, columns: &[usize]) -> u64 {
        let bytes = columns.iter().map(|column| self.rows.row_bytes(*column));
        // Rows of any length are read; one whose length saturates is read alone.
        bytes.fold(0, u64::saturating_add)
    }

    /// The names of the columns.
    fn names(&self) -> Vec<&str> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().as_str()).collect()
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The batches of these rows, read by a thread of its own.
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
        let reader = Reader::new(self, rows, partition)?;
        Ok(match self.rows.planned() {
            Some(planned) => Box::new(Checked::new(reader, &planned.opened_by)),
            None => Box::new(reader),
        })
    }
}

/// The number of rows of the longest chunk of these columns.
pub(crate) fn longest_chunk(rows: &dyn Rows, columns: &[usize]) -> u64 {
    let chunks = columns.iter().map(|column| rows.chunk_rows(*column));
    chunks.max().unwrap_or(1)
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
        statistics.num_rows = if self.conditions.is_empty() {
            Precision::Exact(rows)
        } else {
            Precision::Inexact(rows)
        };
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, _: Option<usize>) -> Option<Arc<dyn DataSource>> {
        // The limit node above drops the stream once it has its rows.
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
