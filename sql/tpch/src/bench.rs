//! Times queries.

use crate::Result;
use crate::check::{QUERIES, ctables, parquet};
use crate::clock::Took;
use std::path::Path;

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

/// Answers each name of a query in the input with the cost of the query over one format of the tables, and the peak memory
/// of this process in KiB.
pub async fn serve(dir: &Path, form: &str, threads: usize) -> Result<()> {
    let session = match form {
        "ctable" => ctables(dir, threads).await?,
        compression => parquet(dir, compression, threads).await?,
    };
    for name in std::io::stdin().lines() {
        let query = query(name?.trim())?;
        let begun = Took::now();
        session.sql(query).await?.collect().await?;
        let took = Took::since(begun);
        let status = std::fs::read_to_string("/proc/self/status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|line| line.split_whitespace().next());
        println!(r#"{{{took}, "peak": {}}}"#, peak.ok_or("no VmHWM")?);
    }
    Ok(())
}
