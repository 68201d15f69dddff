//! Times queries.

use crate::Result;
use crate::check::{QUERIES, ctables, parquet};
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::time::Instant;

/// Additional queries: their names, and their texts.
const MORE: [(&str, &str); 6] = [
    ("point", "SELECT * FROM orders WHERE o_orderkey = 157446"),
    (
        "range",
        "SELECT sum(o_totalprice), count(*) FROM orders WHERE o_orderkey BETWEEN 100000 AND 160000",
    ),
    (
        "dates",
        "SELECT sum(l_extendedprice), count(*) FROM lineitem WHERE l_shipdate BETWEEN DATE '1995-03-01' AND DATE '1995-03-25'",
    ),
    (
        "top-k",
        "SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_totalprice DESC LIMIT 10",
    ),
    ("count", "SELECT count(*) FROM lineitem"),
    (
        "strings",
        "SELECT l_shipmode, count(*) FROM lineitem GROUP BY l_shipmode",
    ),
];

/// Prints the median of each query over each format of the tables, and the ratios of the first to the others.
pub async fn bench(dir: &Path, rounds: usize, threads: usize) -> Result<()> {
    let sessions = [
        ctables(dir, threads).await?,
        parquet(dir, "snappy", threads).await?,
        parquet(dir, "zstd", threads).await?,
    ];
    println!(
        "| query | ctable, ms | Parquet Snappy, ms | Parquet Zstd, ms | ctable / Snappy | ctable / Zstd |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, query) in queries() {
        let mut times = [const { Vec::new() }; 3];
        for _ in 0..=rounds {
            for (session, times) in sessions.iter().zip(&mut times) {
                times.push(time(session, query).await?);
            }
        }
        let [ours, snappy, zstd] = times.map(median);
        println!(
            "| {name} | {ours:.1} | {snappy:.1} | {zstd:.1} | {:.2} | {:.2} |",
            ours / snappy,
            ours / zstd
        );
    }
    Ok(())
}

/// All queries, with their names.
fn queries() -> impl Iterator<Item = (String, &'static str)> {
    let numbered = (1..)
        .zip(QUERIES)
        .map(|(number, query)| (format!("Q{number}"), query));
    let more = MORE
        .iter()
        .map(|(name, query)| ((*name).to_owned(), *query));
    numbered.chain(more)
}

/// The text of a query.
pub fn query(name: &str) -> Result<&'static str> {
    let mut queries = queries();
    let found = queries.find(|(known, _)| known == name);
    Ok(found.ok_or_else(|| format!("no query {name:?}"))?.1)
}

/// Runs one query twice over one format of the tables. Prints the milliseconds of the second run, and the peak memory of the
/// process in KiB.
pub async fn once(dir: &Path, form: &str, name: &str, threads: usize) -> Result<()> {
    let query = query(name)?;
    let session = match form {
        "ctable" => ctables(dir, threads).await?,
        compression => parquet(dir, compression, threads).await?,
    };
    time(&session, query).await?;
    let took = time(&session, query).await?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|line| line.split_whitespace().next());
    println!("{took:.3} {}", peak.ok_or("no VmHWM")?);
    Ok(())
}

/// Runs a query, and returns its time in milliseconds.
async fn time(session: &SessionContext, query: &str) -> Result<f64> {
    let begun = Instant::now();
    session.sql(query).await?.collect().await?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// The median without the first time, because the first run fills caches.
fn median(mut times: Vec<f64>) -> f64 {
    times.remove(0);
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
