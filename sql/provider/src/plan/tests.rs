//! Plans that are sent, damaged and forged.

use super::*;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::physical_plan::{
    DefaultPhysicalExtensionCodec, DefaultPhysicalProtoConverter,
};

type Rows = Vec<Arc<dyn ExecutionPlan>>;

fn prices() -> String {
    let path = testkit::testdata("datasets/bcolz/zipline_daily_equities.bcolz");
    path.into_os_string().into_string().unwrap()
}

/// The encoded scan of a query with a condition, and its input.
async fn scan(context: &SessionContext) -> (Vec<u8>, Rows) {
    let query = format!("SELECT close FROM '{}' WHERE id < 3 AND day > 17", prices());
    let frame = context.sql(&query).await.unwrap();
    let mut node = frame.create_physical_plan().await.unwrap();
    loop {
        let codec = DefaultPhysicalExtensionCodec {};
        let encoded = encode_scan(&*node, &codec, &DefaultPhysicalProtoConverter {});
        if let Some(bytes) = encoded.unwrap() {
            return (bytes, node.children().into_iter().cloned().collect());
        }
        node = Arc::clone(node.children().first().unwrap());
    }
}

fn context() -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(3);
    let options = TableOptions::new().shared();
    crate::context_with(config, Arc::default(), &options).unwrap()
}

fn decoded(bytes: &[u8], rows: &Rows, context: &SessionContext) -> Result<Arc<dyn ExecutionPlan>> {
    let (options, tasks) = (TableOptions::new(), context.task_ctx());
    let codec = DefaultPhysicalExtensionCodec {};
    decode_scan(
        bytes,
        rows,
        &options,
        &tasks,
        &codec,
        &DefaultPhysicalProtoConverter {},
    )
}

#[tokio::test]
async fn a_scan_survives_the_way() {
    let context = context();
    let (bytes, rows) = scan(&context).await;
    let node = decoded(&bytes, &rows, &context).unwrap();
    let codec = DefaultPhysicalExtensionCodec {};
    let again = encode_scan(&*node, &codec, &DefaultPhysicalProtoConverter {});
    assert_eq!(again.unwrap().unwrap(), bytes);
    let found = datafusion::physical_plan::collect(node, context.task_ctx())
        .await
        .unwrap();
    let query = format!("SELECT close FROM '{}' WHERE id < 3 AND day > 17", prices());
    let expected = context.sql(&query).await.unwrap().collect().await.unwrap();
    let count = |batches: &[datafusion::arrow::array::RecordBatch]| -> usize {
        batches.iter().map(|batch| batch.num_rows()).sum()
    };
    assert!(count(&found) > 0);
    assert_eq!(count(&found), count(&expected));
}

#[tokio::test]
async fn damaged_and_foreign_bytes_are_refused() {
    let context = context();
    let (bytes, rows) = scan(&context).await;
    for len in 0..bytes.len() {
        assert!(
            decoded(&bytes[..len], &rows, &context).is_err(),
            "{len} bytes"
        );
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(decoded(&flipped, &rows, &context).is_err(), "bit {bit}");
    }
    assert!(decode_table(&bytes, &TableOptions::new()).is_err());
    assert!(decoded(b"BALLISTA and more", &rows, &context).is_err());
}

/// NaN is null in the process that reads as well.
#[tokio::test]
async fn nan_as_null_survives_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("t");
    let mut table = bloscpack_open::datasets::CTable::builder()
        .column("y", bloscpack_open::datasets::CArray::of::<f64>())
        .create(&at)
        .unwrap();
    table.append(&[&f64::NAN.to_le_bytes()]).unwrap();
    table.flush().unwrap();
    drop(table);
    for (options, nulls) in [
        (TableOptions::new().shared(), 0),
        (TableOptions::new().shared().nan_as_null(), 1),
    ] {
        let table = BloscpackTable::open(at.to_str().unwrap(), &options).unwrap();
        let bytes = encode_table(&table).unwrap().unwrap();
        let decoded = decode_table(&bytes, &TableOptions::new()).unwrap();
        let batch = decoded.source().read(&[0], 0..1).unwrap();
        assert_eq!(batch.column(0).null_count(), nulls);
    }
}

/// If the digest is right, only the message itself can be wrong.
#[tokio::test]
async fn hostile_messages_are_refused_or_read_without_harm() {
    let context = context();
    let (bytes, rows) = scan(&context).await;
    let message = &bytes[HEAD..];
    let (mut accepted, mut refused) = (0, 0);
    for byte in 0..message.len() {
        for value in [
            0,
            1,
            0x7f,
            0x80,
            0xff,
            message[byte] ^ 1,
            message[byte] ^ 0x40,
        ] {
            let mut message = message.to_vec();
            message[byte] = value;
            let head = [VERSION, SCAN];
            let bytes = [MAGIC.as_slice(), &head, &digest(head, &message), &message].concat();
            match decoded(&bytes, &rows, &context) {
                Err(_) => refused += 1,
                Ok(node) => {
                    accepted += 1;
                    // Reading may fail, for example because of another version.
                    let _ = datafusion::physical_plan::collect(node, context.task_ctx()).await;
                }
            }
        }
    }
    assert!(
        refused > accepted / 10,
        "{refused} of {}",
        refused + accepted
    );
}

#[test]
fn contradictions_are_refused() {
    let sound = || TableMessage {
        location: "/data".to_owned(),
        version: vec![0; 32],
        schema: Some(protobuf::Schema::default()),
        ..TableMessage::default()
    };
    let options = TableOptions::new();
    assert!(planned(sound(), &options).is_ok());
    for broken in [
        TableMessage {
            version: vec![0; 31],
            ..sound()
        },
        TableMessage {
            location: "data".to_owned(),
            ..sound()
        },
        TableMessage {
            chunk_rows: vec![1],
            ..sound()
        },
        TableMessage {
            row_bytes: vec![1],
            ..sound()
        },
    ] {
        assert!(planned(broken, &options).is_err());
    }
}
