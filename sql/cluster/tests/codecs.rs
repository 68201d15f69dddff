//! What the codecs refuse.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack_datafusion::{BloscpackTable, TableOptions};
use blpk_cluster::{LogicalCodec, PhysicalCodec};
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::datasource::empty::EmptyTable;
use datafusion::prelude::SessionContext;
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec};
use std::sync::Arc;

fn prices() -> String {
    let path = testkit::testdata("datasets/bcolz/zipline_daily_equities.bcolz");
    path.into_os_string().into_string().unwrap()
}

fn encoded(table: Arc<dyn TableProvider>) -> datafusion::common::Result<Vec<u8>> {
    let (codec, mut bytes) = (LogicalCodec::default(), Vec::new());
    codec.try_encode_table_provider(&name(), table, &mut bytes)?;
    Ok(bytes)
}

fn name() -> TableReference {
    TableReference::bare("prices")
}

#[test]
fn tables_survive_the_way() {
    let table = BloscpackTable::open(&prices(), &TableOptions::new().shared()).unwrap();
    let (schema, rows) = (table.schema(), table.rows());
    let bytes = encoded(Arc::new(table)).unwrap();
    let (codec, tasks) = (LogicalCodec::default(), SessionContext::new().task_ctx());
    let decode =
        |bytes: &[u8], schema| codec.try_decode_table_provider(bytes, &name(), schema, &tasks);
    let decoded = decode(&bytes, Arc::clone(&schema)).unwrap();
    let decoded = decoded.downcast_ref::<BloscpackTable>().unwrap();
    assert_eq!(
        (decoded.schema(), decoded.rows()),
        (Arc::clone(&schema), rows)
    );
    assert!(decode(&bytes, Arc::new(Schema::empty())).is_err());
    for len in 0..bytes.len() {
        assert!(
            decode(&bytes[..len], Arc::clone(&schema)).is_err(),
            "{len} bytes"
        );
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&flipped, Arc::clone(&schema)).is_err(), "bit {bit}");
    }
}

#[test]
fn tables_that_only_one_process_has_are_refused() {
    let alone = BloscpackTable::open(&prices(), &TableOptions::new()).unwrap();
    let refused = encoded(Arc::new(alone)).unwrap_err().to_string();
    assert!(
        refused.contains("not opened to be read by other processes"),
        "{refused}"
    );
    let other = EmptyTable::new(Arc::new(Schema::empty()));
    let refused = encoded(Arc::new(other)).unwrap_err().to_string();
    assert!(
        refused.contains("a cluster cannot read this kind of table"),
        "{refused}"
    );
}

#[test]
fn foreign_bytes_are_refused() {
    let tasks = SessionContext::new().task_ctx();
    let (logical, physical) = (LogicalCodec::default(), PhysicalCodec::default());
    for bytes in [
        &b""[..],
        b"BLPKPLA",
        b"something else",
        b"BALLISTA",
        b"BALLISTA\xff\xff",
        b"BLPKPLAN\x01\x02",
    ] {
        let converter = DefaultPhysicalProtoConverter {};
        let schema = Arc::new(Schema::empty());
        assert!(
            physical.try_decode(bytes, &[], &tasks, &converter).is_err(),
            "{bytes:?}"
        );
        assert!(logical.try_decode(bytes, &[], &tasks).is_err(), "{bytes:?}");
        let table = logical.try_decode_table_provider(bytes, &name(), schema, &tasks);
        assert!(table.is_err(), "{bytes:?}");
    }
}
