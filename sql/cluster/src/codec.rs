//! [`LogicalCodec`] and [`PhysicalCodec`]: encode and decode plans with our tables.
//!
//! The bytes begin with the magic of [`plan`], or with [`OTHERS`] for nodes that Ballista encodes. All other bytes are
//! refused.

use ballista_core::serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec};
use bloscpack_datafusion::{TableOptions, plan};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::{Result, TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::file_format::FileFormatFactory;
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan, ScalarUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::sync::Arc;

/// Precedes the bytes of nodes that Ballista encodes.
const OTHERS: &[u8; 8] = b"BALLISTA";

/// Encodes our tables, and leaves other nodes to Ballista.
#[derive(Debug, Default)]
pub struct LogicalCodec {
    options: TableOptions,
    others: BallistaLogicalExtensionCodec,
}

impl LogicalCodec {
    /// A codec that opens tables with these options.
    #[must_use]
    pub fn new(options: &TableOptions) -> Self {
        Self {
            options: options.clone(),
            others: BallistaLogicalExtensionCodec::default(),
        }
    }
}

impl LogicalExtensionCodec for LogicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[LogicalPlan],
        tasks: &TaskContext,
    ) -> Result<Extension> {
        self.others.try_decode(others(bytes)?, inputs, tasks)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        encoded(bytes, |bytes| self.others.try_encode(node, bytes))
    }

    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        tasks: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        if !plan::is_plan(bytes) {
            let bytes = others(bytes)?;
            return self
                .others
                .try_decode_table_provider(bytes, name, schema, tasks);
        }
        let table = plan::decode_table(bytes, &self.options)?;
        if table.schema() == schema {
            Ok(Arc::new(table))
        } else {
            plan_err!("{name}: a plan with other columns than its table")
        }
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(plan) = plan::encode_table(&*table)? {
            bytes.extend(plan);
            return Ok(());
        }
        encoded(bytes, |bytes| {
            let others = self.others.try_encode_table_provider(name, table, bytes);
            others.map_err(|_| {
                plan_datafusion_err!("{name}: a cluster cannot read this kind of table")
            })
        })
    }

    fn try_decode_udf(&self, name: &str, _: &[u8]) -> Result<Arc<ScalarUDF>> {
        plan::decode_function(name)
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        tasks: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.others.try_decode_file_format(bytes, tasks)
    }

    fn try_encode_file_format(
        &self,
        bytes: &mut Vec<u8>,
        format: Arc<dyn FileFormatFactory>,
    ) -> Result<()> {
        self.others.try_encode_file_format(bytes, format)
    }
}

/// Encodes scans of our tables, and leaves other nodes to Ballista.
#[derive(Debug, Default)]
pub struct PhysicalCodec {
    options: TableOptions,
    others: BallistaPhysicalExtensionCodec,
}

impl PhysicalCodec {
    /// A codec whose scans open tables with these options.
    #[must_use]
    pub fn new(options: &TableOptions) -> Self {
        Self {
            options: options.clone(),
            others: BallistaPhysicalExtensionCodec::default(),
        }
    }
}

impl PhysicalExtensionCodec for PhysicalCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        tasks: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if plan::is_plan(bytes) {
            plan::decode_scan(bytes, inputs, &self.options, tasks, self, converter)
        } else {
            self.others
                .try_decode(others(bytes)?, inputs, tasks, converter)
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(plan) = plan::encode_scan(&*node, self, converter)? {
            bytes.extend(plan);
            return Ok(());
        }
        encoded(bytes, |bytes| {
            self.others.try_encode(node, bytes, converter)
        })
    }

    fn try_decode_udf(&self, name: &str, _: &[u8]) -> Result<Arc<ScalarUDF>> {
        plan::decode_function(name)
    }
}

/// Appends the bytes that `encode` writes, after [`OTHERS`].
fn encoded(bytes: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    // `encode` may expect an empty buffer.
    let mut others = Vec::new();
    encode(&mut others)?;
    bytes.extend_from_slice(OTHERS);
    bytes.extend(others);
    Ok(())
}

/// The bytes after [`OTHERS`].
fn others(bytes: &[u8]) -> Result<&[u8]> {
    let others = bytes.strip_prefix(OTHERS);
    others.ok_or_else(|| {
        plan_datafusion_err!("{} bytes that are not a plan of this program", bytes.len())
    })
}
