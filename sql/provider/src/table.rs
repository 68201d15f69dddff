//! [`BloscpackTable`]: an opened input as a DataFusion table.

use crate::error::external;
use crate::open::{OpenedBy, TableOptions};
use crate::parts::Parts;
use crate::rows::{self, Planned, Rows};
use crate::scan::Scan;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt;
use std::sync::Arc;

/// An opened input as a table.
///
/// A table shows the input as of its opening. Open another one to see rows that were appended since.
#[derive(Clone)]
pub struct BloscpackTable {
    rows: Arc<dyn Rows>,
    opened_by: Arc<OpenedBy>,
}

impl fmt::Debug for BloscpackTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("BloscpackTable");
        shown
            .field("opened_by", &self.opened_by)
            .finish_non_exhaustive()
    }
}

impl BloscpackTable {
    /// Opens the input at a path or a URL. Blocks while it reads the headers.
    ///
    /// # Errors
    /// Returns errors of opening, and an error that names the column if Arrow does not have its type.
    pub fn open(location: &str, options: &TableOptions) -> bloscpack::Result<Self> {
        let (opened_by, container) = OpenedBy::open(location, options)?;
        let opened_by = Arc::new(opened_by);
        let rows = rows::of(container, options.nan_as_null)
            .map_err(|error| error.in_file(opened_by.to_string()))?;
        Ok(if options.is_shared {
            Self::of(Arc::new(Planned::of(rows, opened_by)))
        } else {
            Self { rows, opened_by }
        })
    }

    /// A table that other processes read as well.
    pub(crate) fn of(planned: Arc<Planned>) -> Self {
        Self {
            opened_by: Arc::clone(&planned.opened_by),
            rows: planned,
        }
    }

    pub(crate) fn source(&self) -> &Arc<dyn Rows> {
        &self.rows
    }

    /// As [`open`](Self::open), on a thread that may block.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open), as [`DataFusionError::External`].
    pub async fn open_async(location: &str, options: &TableOptions) -> Result<Self> {
        let (location, options) = (location.to_owned(), options.clone());
        let opened = tokio::task::spawn_blocking(move || Self::open(&location, &options));
        let opened = opened
            .await
            .map_err(|error| DataFusionError::External(Box::new(error)))?;
        opened.map_err(external)
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.len()
    }
}

#[async_trait]
impl TableProvider for BloscpackTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.rows.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = || (0..self.rows.schema().fields().len()).collect();
        let columns = projection.cloned().unwrap_or_else(all);
        let limit = limit.and_then(|limit| u64::try_from(limit).ok());
        let range = 0..limit.unwrap_or(u64::MAX).min(self.rows.len());
        let partitions = state.config().target_partitions();
        let (rows, opened_by) = (Arc::clone(&self.rows), Arc::clone(&self.opened_by));
        let mut scan = Scan::new(rows, opened_by, columns, range, partitions)?;
        if self.rows.planned().is_none() {
            return Ok(DataSourceExec::from_data_source(scan));
        }
        let schema = DFSchema::try_from(self.schema())?;
        let conditions = filters.iter().filter_map(|filter| {
            // All filters are evaluated again above the scan.
            let condition = state.create_physical_expr(filter.clone(), &schema).ok()?;
            let data_type = condition.data_type(self.rows.schema()).ok()?;
            (data_type == DataType::Boolean).then_some(condition)
        });
        scan.conditions = conditions.collect();
        Ok(Arc::new(Parts::of(scan)?))
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = match self.rows.planned() {
            Some(_) => TableProviderFilterPushDown::Inexact,
            // The physical plan pushes its filters down later, and has more of them.
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(vec![support; filters.len()])
    }
}
