//! Times queries.

use crate::Result;
use crate::check::{QUERIES, ctables, parquet};
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::time::Instant;

/// Queries besides those of TPC-H: their names, and their texts.
const MORE: [(&str, &str); 5] = [
    ("point", "SELECT * FROM orders WHERE o_orderkey = 157446"),
    (
        "range",
        "SELECT sum(o_totalprice), count(*) FROM orders WHERE o_orderkey BETWEEN 100000 AND 160000",
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

/// Prints the median of each query over each form of the tables, and the ratios of the first to the others.
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
    let numbered = (1..)
        .zip(QUERIES)
        .map(|(number, query)| (format!("Q{number}"), query));
    let more = MORE
        .iter()
        .map(|(name, query)| ((*name).to_owned(), *query));
    for (name, query) in numbered.chain(more) {
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

/// Milliseconds of a query.
async fn time(session: &SessionContext, query: &str) -> Result<f64> {
    let begun = Instant::now();
    session.sql(query).await?.collect().await?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// The median of all but the first, which fills caches.
fn median(mut times: Vec<f64>) -> f64 {
    times.remove(0);
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
