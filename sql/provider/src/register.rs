//! Sessions that open the inputs of this crate.

use crate::meaning::{OneMeaning, functions};
use crate::{BloscpackTable, TableOptions, pushdown};
use async_trait::async_trait;
use datafusion::catalog::{
    DynamicFileCatalog, Session, TableProvider, TableProviderFactory, UrlTableFactory,
};
use datafusion::common::{Result, plan_err};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::logical_expr::CreateExternalTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::Path;
use std::sync::Arc;

/// The names after `STORED AS`. Each of them opens every kind of input.
pub const FORMATS: [&str; 3] = ["BCOLZ", "BLOSCPACK", "B2ND"];

/// Opens the inputs of this crate, and no others.
#[derive(Debug)]
struct Factory(TableOptions);

#[async_trait]
impl TableProviderFactory for Factory {
    async fn create(
        &self,
        _: &dyn Session,
        command: &CreateExternalTable,
    ) -> Result<Arc<dyn TableProvider>> {
        let [location] = command.locations.as_slice() else {
            return plan_err!("{}: one LOCATION is expected", command.name);
        };
        let table = BloscpackTable::open_async(location, &self.0).await?;
        Ok(Arc::new(table))
    }
}

#[async_trait]
impl UrlTableFactory for Factory {
    async fn try_new(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let is_path = name.contains("://") || name.contains('/') || Path::new(name).exists();
        if !is_path {
            return Ok(None);
        }
        let table = BloscpackTable::open_async(name, &self.0).await?;
        Ok(Some(Arc::new(table)))
    }
}

/// Adds `CREATE EXTERNAL TABLE … STORED AS BCOLZ`, `BLOSCPACK` and `B2ND` to the builder of a session, which must already
/// have its default features. Also adds the rule that gives floats and overflow one meaning in all parts of a query: -0.0
/// equals 0.0, NaN equals itself and is greater than every other value, and integer overflow is an error.
#[must_use]
pub fn register(mut builder: SessionStateBuilder, options: &TableOptions) -> SessionStateBuilder {
    let known = builder.scalar_functions().get_or_insert_default();
    known.extend(functions().iter().map(Arc::clone));
    let rules = pushdown::rules(builder.physical_optimizers().take());
    let builder = builder
        .with_analyzer_rule(Arc::new(OneMeaning))
        .with_physical_optimizer_rules(rules);
    FORMATS.iter().fold(builder, |builder, format| {
        let factory = Arc::new(Factory(options.clone()));
        builder.with_table_factory((*format).to_owned(), factory)
    })
}

/// A session in which paths and URLs of inputs are table names. Everything else has its default.
///
/// # Errors
/// Returns errors of DataFusion.
pub fn context(config: SessionConfig) -> Result<SessionContext> {
    context_with(config, Arc::default(), &TableOptions::new())
}

/// As [`context`], with limits of memory and disk, and with options for the tables.
///
/// # Errors
/// Returns errors of DataFusion.
pub fn context_with(
    config: SessionConfig,
    runtime: Arc<RuntimeEnv>,
    options: &TableOptions,
) -> Result<SessionContext> {
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features();
    let context = SessionContext::new_with_state(register(builder, options).build());
    let catalogs = Arc::clone(context.state().catalog_list());
    let factory = Arc::new(Factory(options.clone()));
    let catalogs = Arc::new(DynamicFileCatalog::new(catalogs, factory));
    Ok(context
        .into_state_builder()
        .with_catalog_list(catalogs)
        .build()
        .into())
}
