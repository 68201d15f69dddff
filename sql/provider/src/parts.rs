//! [`Parts`]: reads the rows of a table that several processes share.

use crate::scan::Scan;
use datafusion::arrow::array::{RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::common::cast::as_primitive_array;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, plan_datafusion_err, plan_err};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSource as _;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, StatisticsArgs, common,
};
use futures_util::{TryStreamExt as _, stream};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Reads rows of a table. The input of this node lists the rows to read: each of its partitions contains ranges, as the
/// first row and the row after the last.
///
/// The scheduler of a cluster gives a task some partitions of a plan by removing the others from the plan's leaves. It can
/// do that with batches in memory, but not with a source that it does not know.
#[derive(Debug)]
pub(crate) struct Parts {
    pub scan: Scan,
    ranges: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Parts {
    /// Reads all partitions of a scan.
    pub(crate) fn of(scan: Scan) -> Result<Self> {
        let partitions = scan.partitions.iter().map(|rows| {
            let [start, end] =
                [rows.start, rows.end].map(|row| Arc::new(UInt64Array::from(vec![row])) as Arc<_>);
            Ok(vec![RecordBatch::try_new(schema(), vec![start, end])?])
        });
        let partitions = partitions.collect::<Result<Vec<_>>>()?;
        let ranges = MemorySourceConfig::try_new_exec(&partitions, schema(), None)?;
        Self::new(scan, ranges)
    }

    /// Reads the rows that `ranges` lists.
    pub(crate) fn new(scan: Scan, ranges: Arc<dyn ExecutionPlan>) -> Result<Self> {
        if ranges.schema().fields() != schema().fields() {
            return plan_err!("a plan of a scan whose input is not rows");
        }
        let count = ranges.properties().output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(scan.schema())),
            Partitioning::UnknownPartitioning(count),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            scan,
            ranges,
            properties: Arc::new(properties),
        })
    }
}

/// The columns of the input: the begin and the end of each range.
fn schema() -> SchemaRef {
    let column = |name| Field::new(name, DataType::UInt64, false);
    Arc::new(Schema::new(vec![column("start"), column("end")]))
}

/// The row ranges in batches of the input.
fn rows_of(batches: &[RecordBatch], len: u64) -> Result<Vec<Range<u64>>> {
    let mut rows = Vec::new();
    for batch in batches {
        let column = |index: usize| {
            let column = batch.columns().get(index);
            let column = column.ok_or_else(|| plan_datafusion_err!("rows without a column"))?;
            as_primitive_array::<UInt64Type>(column)
        };
        let ranges = column(0)?.values().iter().zip(column(1)?.values());
        rows.extend(ranges.map(|(start, end)| *start..*end));
    }
    let are_sound = |rows: &Range<u64>| rows.start <= rows.end && rows.end <= len;
    if rows.iter().all(are_sound) {
        Ok(rows)
    } else {
        plan_err!("a plan with rows that its table lacks")
    }
}

impl DisplayAs for Parts {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BloscpackScanExec: ")?;
        self.scan.fmt_as(form, f)
    }
}

impl ExecutionPlan for Parts {
    fn name(&self) -> &str {
        "BloscpackScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.ranges]
    }

    /// More partitions of the input would not split the rows further.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.scan.apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [ranges] = children.as_slice() else {
            return plan_err!("a scan of {} inputs", children.len());
        };
        let parts = Self::new(self.scan.clone(), Arc::clone(ranges))?;
        Ok(Arc::new(parts))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let ranges = self.ranges.execute(partition, context)?;
        let scan = self.scan.clone();
        let schema = Arc::clone(scan.schema());
        let read = async move {
            let rows = rows_of(&common::collect(ranges).await?, scan.rows.len())?;
            Ok::<_, DataFusionError>(scan.stream(rows, partition))
        };
        let read = stream::once(read).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, read)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.scan.metrics().clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let statistics = match args.partition() {
            // The rows are unknown until the input is read.
            Some(_) => Statistics::new_unknown(self.scan.schema()),
            None => Statistics::clone(&*self.scan.partition_statistics(None)?).to_inexact(),
        };
        Ok(Arc::new(statistics))
    }
}
