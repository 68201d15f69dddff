//! Encodes tables and scans as bytes, which the processes of a cluster send to each other.
//!
//! | bytes | content |
//! |---|---|
//! | 0 to 7 | `BLPKPLAN` |
//! | 8 | the version, 1 |
//! | 9 | 1 for a table, 2 for a scan |
//! | 10 to 41 | the SHA-256 digest of bytes 8 and 9, and of all from 42 on |
//! | 42 to the end | a message of Protocol Buffers, at most 4 MiB |
//!
//! A plan contains the location of the input, the version that was planned, and the facts about its rows. A scan also
//! contains its columns and conditions; its rows are in the input of its node. A plan contains no secret of a store, except
//! a signature that is part of a URL. Decoding does not open the input. All other bytes, and contradictory ones, are an
//! error.

use crate::meaning;
use crate::open::OpenedBy;
use crate::parts::Parts;
use crate::rows::{Known, Planned, Rows};
use crate::scan::Scan;
use crate::version::Version;
use crate::{BloscpackTable, TableOptions};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::{DataFusionError, Result, plan_datafusion_err, plan_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{self, PhysicalExprNode};
use prost::Message;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"BLPKPLAN";
const VERSION: u8 = 1;
const TABLE: u8 = 1;
const SCAN: u8 = 2;
/// The offset of the message.
const HEAD: usize = 42;
/// The maximum length of a message. Decoding one takes up to some hundred times as much memory.
const MAX: usize = 4 << 20;

#[derive(Clone, PartialEq, Message)]
struct TableMessage {
    #[prost(string, tag = "1")]
    location: String,
    #[prost(bytes = "vec", tag = "2")]
    version: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    schema: Option<protobuf::Schema>,
    #[prost(uint64, tag = "4")]
    rows: u64,
    #[prost(uint64, repeated, tag = "5")]
    chunk_rows: Vec<u64>,
    #[prost(uint64, repeated, tag = "6")]
    row_bytes: Vec<u64>,
    #[prost(bool, tag = "7")]
    nan_as_null: bool,
}

#[derive(Clone, PartialEq, Message)]
struct ScanMessage {
    #[prost(message, optional, tag = "1")]
    table: Option<TableMessage>,
    #[prost(uint64, repeated, tag = "2")]
    columns: Vec<u64>,
    #[prost(message, repeated, tag = "3")]
    conditions: Vec<PhysicalExprNode>,
}

/// Whether bytes begin with the magic of this module.
///
/// ```
/// assert!(!bloscpack_datafusion::plan::is_plan(b"something else"));
/// ```
#[must_use]
pub fn is_plan(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Encodes a table; `None` if it is not a [`BloscpackTable`].
///
/// # Errors
/// Returns an error for a table that was not opened with [`TableOptions::shared`].
pub fn encode_table(table: &dyn TableProvider) -> Result<Option<Vec<u8>>> {
    let Some(table) = table.downcast_ref::<BloscpackTable>() else {
        return Ok(None);
    };
    sealed(TABLE, &table_message(&**table.source())?).map(Some)
}

/// Decodes a table from the bytes of [`encode_table`].
///
/// # Errors
/// Returns an error for all other bytes.
pub fn decode_table(bytes: &[u8], options: &TableOptions) -> Result<BloscpackTable> {
    let planned = planned(opened(TABLE, bytes)?, options)?;
    Ok(BloscpackTable::of(Arc::new(planned)))
}

/// The functions that the rules of [`context`](crate::context) write into plans. Executors must register them.
#[must_use]
pub fn functions() -> &'static [Arc<ScalarUDF>] {
    meaning::functions()
}

/// Finds such a function by its name, as codecs do to decode a plan.
///
/// # Errors
/// Returns an error for all other names.
pub fn decode_function(name: &str) -> Result<Arc<ScalarUDF>> {
    let function = functions().iter().find(|function| function.name() == name);
    let function = function.map(Arc::clone);
    function.ok_or_else(|| plan_datafusion_err!("{name}: no function of this program"))
}

/// Encodes a node that scans a table; `None` for any other node.
///
/// # Errors
/// Returns an error for a table that was not opened with [`TableOptions::shared`], and for conditions that cannot be sent.
pub fn encode_scan(
    node: &dyn ExecutionPlan,
    codec: &dyn PhysicalExtensionCodec,
    converter: &dyn PhysicalProtoConverterExtension,
) -> Result<Option<Vec<u8>>> {
    let Some(Parts { scan, .. }) = node.downcast_ref::<Parts>() else {
        return Ok(None);
    };
    let number = |column: &usize| u64::try_from(*column).unwrap_or(u64::MAX);
    let conditions = scan.conditions.iter();
    let conditions = conditions.map(|condition| converter.physical_expr_to_proto(condition, codec));
    let message = ScanMessage {
        table: Some(table_message(&*scan.rows)?),
        columns: scan.columns.iter().map(number).collect(),
        conditions: conditions.collect::<Result<_>>()?,
    };
    sealed(SCAN, &message).map(Some)
}

/// Decodes a node from the bytes of [`encode_scan`] and its input, which lists the rows to read.
///
/// # Errors
/// Returns an error for all other bytes.
pub fn decode_scan(
    bytes: &[u8],
    inputs: &[Arc<dyn ExecutionPlan>],
    options: &TableOptions,
    tasks: &TaskContext,
    codec: &dyn PhysicalExtensionCodec,
    converter: &dyn PhysicalProtoConverterExtension,
) -> Result<Arc<dyn ExecutionPlan>> {
    let message: ScanMessage = opened(SCAN, bytes)?;
    let planned = planned(message.table.unwrap_or_default(), options)?;
    let columns = columns(&message.columns, &planned.known.schema)?;
    let schema = Arc::clone(&planned.known.schema);
    let context = PhysicalPlanDecodeContext::new(tasks, codec);
    let conditions = message.conditions.iter().map(|condition| {
        let condition = converter.proto_to_physical_expr(condition, &schema, &context)?;
        match condition.data_type(&schema)? {
            DataType::Boolean => Ok(condition),
            other => plan_err!("a plan with a condition that is a {other}"),
        }
    });
    let conditions = conditions.collect::<Result<_>>()?;
    let scan = Scan::of_plan(Arc::new(planned), columns, conditions)?;
    let [rows] = inputs else {
        return plan_err!("a plan of a scan with {} inputs", inputs.len());
    };
    Ok(Arc::new(Parts::new(scan, Arc::clone(rows))?))
}

fn columns(columns: &[u64], schema: &Schema) -> Result<Vec<usize>> {
    let columns = columns.iter().map(|column| {
        let column = usize::try_from(*column).ok();
        let column = column.filter(|column| *column < schema.fields().len());
        column.ok_or_else(|| plan_datafusion_err!("a plan with a column that its table lacks"))
    });
    columns.collect()
}

fn table_message(rows: &dyn Rows) -> Result<TableMessage> {
    let shared = rows.planned();
    let shared = shared.and_then(|planned| Some((planned, planned.opened_by.version()?)));
    let Some((
        Planned {
            opened_by, known, ..
        },
        version,
    )) = shared
    else {
        return plan_err!("a table that was not opened to be read by other processes");
    };
    Ok(TableMessage {
        location: opened_by.location().to_owned(),
        version: version.0.to_vec(),
        schema: Some(protobuf::Schema::try_from(&*known.schema).map_err(broken)?),
        rows: known.len,
        chunk_rows: known.chunk_rows.clone(),
        row_bytes: known.row_bytes.clone(),
        nan_as_null: opened_by.is_nan_null(),
    })
}

fn planned(message: TableMessage, options: &TableOptions) -> Result<Planned> {
    let schema = Schema::try_from(&message.schema.unwrap_or_default()).map_err(broken)?;
    let columns = schema.fields().len();
    let version = <[u8; 32]>::try_from(message.version);
    let (Ok(version), true, true) = (
        version,
        message.chunk_rows.len() == columns,
        message.row_bytes.len() == columns,
    ) else {
        return plan_err!("a plan of a table that lacks a part");
    };
    let opened_by = OpenedBy::planned(
        message.location,
        Version(version),
        message.nan_as_null,
        options,
    );
    let known = Known {
        schema: Arc::new(schema),
        len: message.rows,
        chunk_rows: message.chunk_rows,
        row_bytes: message.row_bytes,
    };
    let opened_by = opened_by.map_err(crate::error::external)?;
    Ok(Planned::unopened(known, Arc::new(opened_by)))
}

fn broken(error: impl std::fmt::Display) -> DataFusionError {
    plan_datafusion_err!("a plan that cannot be sent or read: {error}")
}

/// A message with the bytes before it.
fn sealed(kind: u8, message: &impl Message) -> Result<Vec<u8>> {
    let message = message.encode_to_vec();
    if message.len() > MAX {
        return plan_err!("a plan of {} bytes, which is too long", message.len());
    }
    let head = [VERSION, kind];
    Ok([MAGIC.as_slice(), &head, &digest(head, &message), &message].concat())
}

/// Checks the bytes and decodes the message.
fn opened<M: Message + Default>(kind: u8, bytes: &[u8]) -> Result<M> {
    let parts = bytes
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.split_at_checked(HEAD - MAGIC.len()));
    let Some(([version, found, expected @ ..], message)) = parts else {
        return plan_err!("{} bytes that are not a plan of this program", bytes.len());
    };
    if *version != VERSION {
        return plan_err!(
            "a plan of version {version}: all programs of a cluster must be of the same version"
        );
    }
    if *found != kind || message.len() > MAX || digest([*version, *found], message) != expected {
        return plan_err!("a plan that was damaged on its way");
    }
    M::decode(message).map_err(broken)
}

fn digest(head: [u8; 2], message: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(head)
        .chain_update(message)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests;
