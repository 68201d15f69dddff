//! [`Pruner`]: finds the rows that may satisfy conditions, by the statistics of zones.

use crate::error::external;
use crate::meaning::{Function, cannot_fail, has_floats};
use crate::rows::{Rows, Zones};
use crate::scan::Scan;
use datafusion::arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::physical_expr::expressions::{
    CastExpr, Column as PhysicalColumn, InListExpr, NegativeExpr,
};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, conjunction};
use datafusion::physical_expr_common::physical_expr::{
    snapshot_generation, snapshot_physical_expr,
};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Finds rows that may satisfy the conditions of a scan.
pub(crate) struct Pruner {
    rows: Arc<dyn Rows>,
    /// The columns that have statistics.
    columns: Vec<usize>,
    /// All conditions that cannot fail, combined, over all columns.
    condition: Arc<dyn PhysicalExpr>,
}

impl Pruner {
    /// Makes a pruner, if there are statistics of any column in the conditions.
    pub(crate) fn new(scan: &Scan) -> Result<Option<Self>> {
        // A condition that may fail must see every row that the others leave.
        let schema = scan.rows.schema();
        let conditions = scan.conditions.iter().cloned();
        let condition = conjunction(conditions.filter(|one| cannot_fail(one, schema)));
        let named = collect_columns(&condition);
        let mut columns: Vec<usize> = named.iter().map(|column| column.index()).collect();
        columns.retain(|column| scan.rows.zones(*column).is_some());
        if columns.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            rows: Arc::clone(&scan.rows),
            columns,
            condition,
        }))
    }

    /// Changes whenever a condition changes. The conditions of joins and of `ORDER BY … LIMIT` change while a query runs.
    pub(crate) fn generation(&self) -> u64 {
        snapshot_generation(&self.condition)
    }

    /// The parts of these rows that may contain a match.
    ///
    /// A zone is skipped only if its statistics match the current data.
    pub(crate) fn left(&self, rows: &Range<u64>) -> Result<Vec<Range<u64>>> {
        let parts = Parts::new(self, rows);
        let condition = snapshot_physical_expr(Arc::clone(&self.condition))?;
        let condition = prunable(condition, self.rows.schema())?;
        let predicate = PruningPredicateBuilder::new()
            .with_file_schema(Arc::clone(self.rows.schema()))
            .try_build(condition)?;
        if predicate.always_true() {
            return Ok(vec![rows.clone()]);
        }
        let may_match = predicate.prune(&parts)?;
        let mut left: Vec<Range<u64>> = Vec::new();
        for (part, may_match) in parts.ranges.iter().zip(may_match) {
            if !may_match && self.is_known(part)? {
                continue;
            }
            match left.last_mut() {
                Some(last) if last.end == part.start => last.end = part.end,
                _ => left.push(part.clone()),
            }
        }
        Ok(left)
    }

    /// Whether the statistics of a part match the current data.
    fn is_known(&self, part: &Range<u64>) -> Result<bool> {
        for column in &self.columns {
            let Some(zones) = self.rows.zones(*column) else {
                continue;
            };
            let holds = self.rows.zone_holds(*column, zones.zone_of(part.start));
            if !holds.map_err(external)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A condition on the same values that the statistics describe.
///
/// The statistics of floats describe comparable values, so [`Function::Comparable`] around a column is removed. DataFusion
/// would rewrite some expressions into a condition that matches other rows; these are wrapped in the function, so that
/// statistics do not apply to them.
fn prunable(condition: Arc<dyn PhysicalExpr>, schema: &SchemaRef) -> Result<Arc<dyn PhysicalExpr>> {
    let changed = condition.transform_down(|expr| {
        if let Some(value) = Function::Comparable.argument(&expr)
            && is_column(value)
        {
            return Ok(Transformed::new(
                Arc::clone(value),
                true,
                TreeNodeRecursion::Jump,
            ));
        }
        // -i64::MIN is i64::MIN again, and -NaN is still the greatest value.
        let is_reversed = expr.downcast_ref::<NegativeExpr>().is_some();
        // Without this crate's rule, lists of floats are compared by their bits.
        let is_of_bits = expr.downcast_ref::<InListExpr>().is_some_and(|list| {
            is_column(list.expr())
                && list
                    .expr()
                    .data_type(schema)
                    .is_ok_and(|of| has_floats(&of))
        });
        if is_reversed || is_of_bits {
            let opaque = Function::Comparable.around(expr, schema)?;
            return Ok(Transformed::new(opaque, true, TreeNodeRecursion::Jump));
        }
        Ok(Transformed::no(expr))
    })?;
    Ok(changed.data)
}

/// Whether this is a column, possibly cast to another float type.
fn is_column(expr: &Arc<dyn PhysicalExpr>) -> bool {
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) => has_floats(cast.cast_type()) && is_column(cast.expr()),
        None => expr.downcast_ref::<PhysicalColumn>().is_some(),
    }
}

/// Rows, cut wherever a zone of a column begins.
struct Parts<'a> {
    pruner: &'a Pruner,
    ranges: Vec<Range<u64>>,
}

impl<'a> Parts<'a> {
    fn new(pruner: &'a Pruner, rows: &Range<u64>) -> Self {
        let zones = pruner
            .columns
            .iter()
            .filter_map(|column| pruner.rows.zones(*column));
        let mut starts: Vec<u64> = zones.flat_map(|zones| zones.borders(rows)).collect();
        starts.push(rows.start);
        starts.sort_unstable();
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([rows.end]);
        let ranges = starts.iter().copied().zip(ends);
        Self {
            pruner,
            ranges: ranges.map(|(start, end)| start..end).collect(),
        }
    }

    /// The column of this name, if it has statistics.
    fn column(&self, name: &str) -> Option<usize> {
        let index = self.pruner.rows.schema().index_of(name).ok()?;
        self.pruner.columns.contains(&index).then_some(index)
    }

    /// The statistics of a column for each part.
    fn known(&self, column: &Column, of: impl Fn(&Zones) -> &ArrayRef) -> Option<ArrayRef> {
        let zones = self.pruner.rows.zones(self.column(&column.name)?)?;
        let zone = |part: &Range<u64>| u64::try_from(zones.zone_of(part.start)).ok();
        let indices = UInt64Array::from_iter(self.ranges.iter().map(zone));
        take(of(zones), &indices, None).ok()
    }
}

impl PruningStatistics for Parts<'_> {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.known(column, |zones| &zones.min)
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.known(column, |zones| &zones.max)
    }

    fn num_containers(&self) -> usize {
        self.ranges.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.known(column, |zones| &zones.nulls)
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        let counts = self.ranges.iter().map(|part| part.end - part.start);
        Some(Arc::new(UInt64Array::from_iter_values(counts)))
    }

    fn contained(&self, _: &Column, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
