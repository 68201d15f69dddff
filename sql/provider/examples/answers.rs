//! Answers queries for `sql/tests/edge_queries.py`, in one process.
//!
//! ```text
//! answers NAME=PATH...
//! ```
//!
//! Each line of standard input contains the number of partitions, how often to run the query, and the query, separated by
//! tabs. Each line of standard output is the answer; or `error: ` and a message; or `differs: ` and two different answers.
//! Rows are sorted, with `;` between rows and `,` between values; floats are hexadecimal.

use bloscpack_datafusion::{BloscpackTable, TableOptions, context, statements};
use datafusion::arrow::array::{Array, AsArray as _, RecordBatch, make_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::exec_datafusion_err;
use datafusion::error::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::collect;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut tables = BTreeMap::new();
    for argument in std::env::args().skip(1) {
        let (name, path) = argument.split_once('=').ok_or("expected NAME=PATH")?;
        tables.insert(
            name.to_owned(),
            BloscpackTable::open(path, &TableOptions::new())?,
        );
    }
    let mut sessions = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let [partitions, times, query] = line.splitn(3, '\t').collect::<Vec<_>>()[..] else {
            return Err("expected partitions, times and a query".into());
        };
        let partitions: usize = partitions.parse()?;
        let session = match sessions.entry(partitions) {
            Entry::Occupied(session) => session.into_mut(),
            Entry::Vacant(entry) => entry.insert(session_of(partitions, &tables)?),
        };
        let mut found: Option<String> = None;
        let planned = planned(session, query).await;
        for _ in 0..times.parse()? {
            let answer = match &planned {
                Ok(plan) => answer(session, plan).await,
                Err(error) => Err(exec_datafusion_err!("{error}")),
            };
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => format!("error: {}", error.strip_backtrace().replace('\n', " ")),
            };
            let first = found.get_or_insert_with(|| answer.clone());
            // Which row an error names depends on timing.
            let are_errors = [&*first, &answer]
                .iter()
                .all(|text| text.starts_with("error: "));
            if *first != answer && !are_errors {
                found = Some(format!("differs: {first} / {answer}"));
                break;
            }
        }
        println!("{}", found.unwrap_or_default());
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// A session with this number of partitions.
fn session_of(
    partitions: usize,
    tables: &BTreeMap<String, BloscpackTable>,
) -> Result<SessionContext> {
    // Cut small tables as well.
    let config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(512)
        .with_repartition_file_min_size(0);
    let session = context(config)?;
    for (name, table) in tables {
        session.register_table(name.as_str(), Arc::new(table.clone()))?;
    }
    Ok(session)
}

/// The logical plan of a query, after optimization.
async fn planned(session: &SessionContext, query: &str) -> Result<LogicalPlan> {
    let statement = statements(query)?.pop_front();
    let statement = statement.ok_or_else(|| exec_datafusion_err!("no statement"))?;
    let plan = session.state().statement_to_plan(statement).await?;
    session.state().optimize(&plan)
}

async fn answer(session: &SessionContext, plan: &LogicalPlan) -> Result<String> {
    let state = session.state();
    let plan = state
        .query_planner()
        .create_physical_plan(plan, &state)
        .await?;
    let batches = collect(plan, session.task_ctx()).await?;
    let mut rows = Vec::new();
    for batch in &batches {
        rows.extend(rows_of(batch)?);
    }
    rows.sort_unstable();
    Ok(rows.join(";"))
}

fn rows_of(batch: &RecordBatch) -> Result<Vec<String>> {
    let columns = batch.columns().iter().map(|column| texts(column));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let rows = (0..batch.num_rows()).map(|row| {
        let values = columns.iter().filter_map(|column| column.get(row).cloned());
        values.collect::<Vec<_>>().join(",")
    });
    Ok(rows.collect())
}

/// The values of a column as text.
fn texts(column: &dyn Array) -> Result<Vec<String>> {
    let text = |row: usize, text: String| {
        if column.is_null(row) {
            "null".to_owned()
        } else {
            text
        }
    };
    let rows = 0..column.len();
    if column.data_type().is_floating() {
        let floats = cast(column, &DataType::Float64)?;
        let floats = floats.as_primitive::<Float64Type>();
        return Ok(rows
            .map(|row| text(row, float(floats.value(row))))
            .collect());
    }
    let column = match column.data_type() {
        // As numbers, because some moments have no date.
        DataType::Date32 => cast(column, &DataType::Int32)?,
        data_type if data_type.is_temporal() => cast(column, &DataType::Int64)?,
        _ => make_array(column.to_data()),
    };
    let options = FormatOptions::default();
    let shown = ArrayFormatter::try_new(&*column, &options)?;
    Ok(rows
        .map(|row| text(row, shown.value(row).to_string()))
        .collect())
}

/// A float as text, without the sign of a zero or NaN.
fn float(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{:016x}", value.to_bits())
    }
}
