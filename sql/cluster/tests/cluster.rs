//! Queries on clusters of child processes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod harness;

use bloscpack::Category;
use bloscpack_datafusion::{TableOptions, failure};
use bloscpack_open::datasets::{CArray, CTable};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use harness::{Cluster, Process};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// More time than a query takes after an executor has died.
const PATIENCE: Duration = Duration::from_secs(300);

/// A table of `rows` rows: `id` is the row's number, `key` repeats, and `value` is a float.
fn table(at: &Path, rows: u32) {
    let mut table = CTable::builder()
        .column("id", CArray::of::<i64>())
        .column("key", CArray::of::<i64>())
        .column("value", CArray::of::<f64>())
        .chunk_rows(10_000)
        .create(at)
        .unwrap();
    let ids: Vec<u8> = (0..rows)
        .flat_map(|row| i64::from(row).to_le_bytes())
        .collect();
    let keys: Vec<u8> = (0..rows)
        .flat_map(|row| i64::from(row.wrapping_mul(2_654_435_761) % 50_000).to_le_bytes())
        .collect();
    let values: Vec<u8> = (0..rows)
        .flat_map(|row| f64::from(row % 1000).to_le_bytes())
        .collect();
    table.append(&[&ids, &keys, &values]).unwrap();
    table.flush().unwrap();
}

async fn remote(cluster: &Cluster) -> SessionContext {
    let options = TableOptions::new();
    blpk_cluster::connect(&cluster.url(), Some(8), &options)
        .await
        .unwrap()
}

fn shown(batches: &[RecordBatch]) -> String {
    pretty_format_batches(batches).unwrap().to_string()
}

async fn answer(context: &SessionContext, query: &str) -> Result<String, DataFusionError> {
    let batches = context.sql(query).await?.collect().await?;
    Ok(shown(&batches))
}

/// The answer of this process without a cluster.
async fn expected(query: &str) -> String {
    let context = bloscpack_datafusion::context(SessionConfig::new()).unwrap();
    answer(&context, query).await.unwrap()
}

/// A query of several stages over a table.
fn joined(at: &Path) -> String {
    let at = at.display();
    format!(
        "SELECT a.key % 7 AS part, count(*) AS pairs, sum(a.value + b.value) AS total, max(b.id) AS last \
         FROM '{at}' a JOIN '{at}' b ON a.key = b.key WHERE a.id >= 1000 GROUP BY part ORDER BY part"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn two_executors_share_the_work() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 200_000);
    let cluster = Cluster::start();
    let context = remote(&cluster).await;
    let path = at.display();
    for query in [
        joined(&at),
        format!("SELECT count(*) FROM '{path}'"),
        format!("SELECT id, value FROM '{path}' WHERE key = 17 AND value < 900 ORDER BY id"),
        format!("SELECT max(id) FROM '{path}' WHERE value > 5000"),
        format!("SELECT id FROM '{path}' ORDER BY value DESC, id LIMIT 5"),
    ] {
        assert_eq!(
            answer(&context, &query).await.unwrap(),
            expected(&query).await,
            "{query}"
        );
    }
    for executor in &cluster.executors {
        assert!(executor.has_worked(), "an executor has had no task");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn data_that_has_changed_is_an_error() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 50_000);
    let cluster = Cluster::start();
    let context = remote(&cluster).await;
    let query = format!("SELECT sum(id), sum(value) FROM '{}'", at.display());
    let planned = context.sql(&query).await.unwrap();
    // Write the same rows again; all lengths stay the same.
    let chunk = at.join("value/data/__0.blp");
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, bytes).unwrap();
    let (category, message) = failure(&planned.collect().await.unwrap_err()).unwrap();
    assert_eq!(category, Category::Failed);
    assert!(
        message.contains("has changed since the query was planned"),
        "{message}"
    );
    assert!(message.contains(at.to_str().unwrap()), "{message}");
    assert_eq!(
        answer(&context, &query).await.unwrap(),
        expected(&query).await
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_is_reported_as_by_one_process() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 50_000);
    let chunk = at.join("value/data/__0.blp");
    let mut bytes = fs::read(&chunk).unwrap();
    let middle = bytes.len() / 2;
    for byte in bytes.iter_mut().skip(middle).take(64) {
        *byte ^= 0x5a;
    }
    fs::write(&chunk, bytes).unwrap();
    let query = format!("SELECT sum(value) FROM '{}'", at.display());
    let alone = bloscpack_datafusion::context(SessionConfig::new().with_target_partitions(1));
    let alone = answer(&alone.unwrap(), &query).await.unwrap_err();
    let cluster = Cluster::start();
    let together = answer(&remote(&cluster).await, &query).await.unwrap_err();
    assert_eq!(failure(&together).unwrap(), failure(&alone).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_answer_is_an_error_that_says_so() {
    let connect = |url: String| async move {
        let connected = blpk_cluster::connect(&url, None, &TableOptions::new()).await;
        connected.err().unwrap().to_string()
    };
    let scheduler = Process::start(&["scheduler", "--port", "0"]);
    let address = scheduler.address.clone();
    let without = connect(format!("df://{address}")).await;
    assert!(without.contains("has no executor"), "{without}");
    drop(scheduler);
    let gone = connect(format!("df://{address}")).await;
    assert!(gone.contains("no scheduler answers at"), "{gone}");
    let wrong = connect("http://127.0.0.1".to_owned()).await;
    assert!(wrong.contains("is not the URL of a cluster"), "{wrong}");
}

/// How often an executor is killed: `BLPK_KILLS`, or a few times by default.
fn kills() -> u32 {
    let kills = std::env::var("BLPK_KILLS").ok();
    kills.map_or(2, |kills| kills.parse().unwrap())
}

/// Options for more stages, and for a planner that the scheduler must not use: after a death, it returns rows twice.
const OPTIONS: [&str; 3] = [
    "optimizer.broadcast_join_threshold_bytes = 0",
    "optimizer.broadcast_join_threshold_rows = 0",
    "planner.adaptive.enabled = false",
];

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_dies_changes_no_answer() {
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("table");
    table(&at, 400_000);
    let query = joined(&at);
    let right = expected(&query).await;
    let mut takes = Duration::ZERO;
    let (mut answers, mut errors) = (0, 0);
    // The first round measures the time of the query; no executor dies in it.
    for round in 0..=kills() {
        let mut cluster = Cluster::start();
        let context = remote(&cluster).await;
        for option in OPTIONS.iter().filter(|_| round % 2 == 1) {
            context
                .sql(&format!("SET ballista.{option}"))
                .await
                .unwrap();
        }
        let (text, started) = (query.clone(), Instant::now());
        let running = tokio::spawn(async move { answer(&context, &text).await });
        if round > 0 {
            // At a different moment of the query in each round.
            tokio::time::sleep(takes * (round * 7 % 20) / 20).await;
            let (after, was_running) = (started.elapsed(), !running.is_finished());
            cluster.executors[1].process.kill();
            println!("round {round}: killed after {after:.1?}, was running: {was_running}");
        }
        let ended = tokio::time::timeout(PATIENCE, running).await;
        match ended.expect("neither an answer nor an error").unwrap() {
            Ok(found) => {
                assert_eq!(found, right, "round {round}");
                answers += 1;
            }
            Err(error) => {
                assert!(round > 0, "{error}");
                println!("round {round}: {error}");
                errors += 1;
            }
        }
        println!("round {round}: {:.1?}", started.elapsed());
        if round == 0 {
            takes = started.elapsed();
        }
    }
    println!("{answers} right answers, {errors} errors");
}
