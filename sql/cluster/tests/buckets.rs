//! Executors that read from S3, each with its own requests.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![cfg(feature = "remote")]

mod harness;
#[path = "../../../crates/remote/tests/remote/servers.rs"]
#[allow(dead_code, reason = "the tests of bloscpack-remote use the rest")]
mod servers;

use bloscpack_datafusion::{TableOptions, failure};
use bloscpack_open::datasets::{CArray, CTable};
use bloscpack_remote::{Remote, RemoteOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use harness::{Executor, Process};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;
use tempfile::TempDir;

/// The options of the store, except for its endpoint.
const OPTIONS: [(&str, &str); 4] = [
    ("access_key_id", servers::KEY),
    ("secret_access_key", servers::SECRET),
    ("allow_http", "true"),
    ("region", "us-east-1"),
];

/// A million rows in chunks of 50,000.
fn table(at: &Path) {
    let rows = 1_000_000i64;
    let mut table = CTable::builder()
        .column("id", CArray::of::<i64>())
        .column("value", CArray::of::<f64>())
        .chunk_rows(50_000)
        .create(at)
        .unwrap();
    let ids: Vec<u8> = (0..rows).flat_map(i64::to_le_bytes).collect();
    let values: Vec<u8> = (0..rows)
        .flat_map(|row| ((row * 7 % 1000) as f64).to_le_bytes())
        .collect();
    table.append(&[&ids, &values]).unwrap();
    table.flush().unwrap();
}

/// A proxy for a server that counts requests.
fn counted(server: &str) -> (String, Arc<AtomicUsize>) {
    let server = server.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let counter = Arc::clone(&counter);
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(from, to, &counter));
            thread::spawn(move || pass(server, client, &AtomicUsize::new(0)));
        }
    });
    (format!("http://{address}"), count)
}

/// Copies bytes until the end, and counts the requests in them; none of these has a body.
fn pass(mut from: TcpStream, mut to: TcpStream, count: &AtomicUsize) {
    let mut bytes = [0; 1 << 16];
    while let Ok(len @ 1..) = from.read(&mut bytes) {
        let ends = bytes[..len].windows(4).filter(|four| four == b"\r\n\r\n");
        count.fetch_add(ends.count(), Ordering::Relaxed);
        if to.write_all(&bytes[..len]).is_err() {
            break;
        }
    }
}

fn executor(scheduler: &str, endpoint: &str) -> Executor {
    let endpoint = ("endpoint", endpoint);
    let options = OPTIONS.iter().chain([&endpoint]);
    let options: Vec<String> = options
        .map(|(key, value)| format!("--store={key}={value}"))
        .collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    Executor::start(scheduler, &options)
}

fn client(endpoint: &str) -> TableOptions {
    let options = OPTIONS
        .iter()
        .fold(RemoteOptions::new(), |options, (key, value)| {
            options.set(*key, *value)
        });
    TableOptions::new().remote(Remote::new(options.set("endpoint", endpoint)).unwrap())
}

async fn answer(context: &SessionContext, query: &str) -> String {
    let batches = context.sql(query).await.unwrap().collect().await.unwrap();
    pretty_format_batches(&batches).unwrap().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_executor_reads_a_part_of_a_bucket() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("bucket")).unwrap();
    let at = folder.path().join("bucket/table");
    table(&at);
    let server = servers::s3(folder.path());
    let scheduler = Process::start(&["scheduler", "--port", "0"]);
    let ways = [counted(&server), counted(&server)];
    let url = format!("df://{}", scheduler.address);
    let options = client(&server);
    let local = bloscpack_datafusion::context_with(Default::default(), Arc::default(), &options);
    let query = "SELECT value % 10 AS digit, count(*), sum(id) FROM 's3://bucket/table' \
                 WHERE value > 3 GROUP BY digit ORDER BY digit";
    let expected = answer(&local.unwrap(), query).await;
    let mut executors = Vec::new();
    for (endpoint, _) in &ways {
        executors.push(executor(&scheduler.address, endpoint));
        let context = blpk_cluster::connect(&url, Some(4), &options)
            .await
            .unwrap();
        for (_, count) in &ways {
            count.store(0, Ordering::Relaxed);
        }
        let begun = Instant::now();
        assert_eq!(answer(&context, query).await, expected);
        let took = begun.elapsed();
        let counts = ways
            .each_ref()
            .map(|(_, count)| count.load(Ordering::Relaxed));
        println!(
            "{} executors: {took:.2?}, requests {counts:?}",
            executors.len()
        );
        for count in counts.iter().take(executors.len()) {
            assert!((1..100).contains(count), "requests {counts:?}");
        }
    }
    // One more byte makes another version.
    let context = blpk_cluster::connect(&url, Some(4), &options)
        .await
        .unwrap();
    let planned = context.sql(query).await.unwrap();
    let chunk = at.join("value/data/__3.blp");
    let mut bytes = fs::read(&chunk).unwrap();
    bytes.push(0);
    fs::write(&chunk, bytes).unwrap();
    let (_, message) = failure(&planned.collect().await.unwrap_err()).unwrap();
    assert!(message.contains("has changed since"), "{message}");
}
