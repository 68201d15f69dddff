//! [`Progress`]: shows on a terminal how many rows were read.

use crate::args::Args;
use crate::query::for_each_node;
use datafusion::common::stats::Precision;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Work that takes less time shows no progress.
const DELAY: Duration = Duration::from_secs(1);
const PERIOD: Duration = Duration::from_millis(200);

/// A line on standard error with the progress of reading, if standard error is a terminal.
pub struct Progress {
    task: Option<tokio::task::JoinHandle<()>>,
    /// Whether results are being printed; the line would disturb them.
    is_paused: Arc<AtomicBool>,
}

impl Progress {
    pub fn start(args: &Args, plan: Arc<dyn ExecutionPlan>) -> Self {
        let is_paused = Arc::new(AtomicBool::new(false));
        let is_shown = !args.quiet && io::stderr().is_terminal();
        let paused = Arc::clone(&is_paused);
        let task = is_shown.then(|| tokio::spawn(async move { show(&*plan, &paused).await }));
        Self { task, is_paused }
    }

    /// Stops showing progress, because results follow.
    pub fn pause(&self) {
        if self.task.is_some() && !self.is_paused.swap(true, Ordering::Relaxed) {
            clear();
        }
    }

    pub fn end(&self) {
        if let Some(task) = &self.task {
            task.abort();
            self.pause();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

async fn show(plan: &dyn ExecutionPlan, is_paused: &AtomicBool) {
    tokio::time::sleep(DELAY).await;
    let mut ticks = tokio::time::interval(PERIOD);
    while !is_paused.load(Ordering::Relaxed) {
        ticks.tick().await;
        let (read, all) = rows(plan);
        if all == 0 {
            // Other processes read the rows.
            return;
        }
        let percent = read
            .saturating_mul(100)
            .checked_div(all)
            .unwrap_or(0)
            .min(100);
        let _ = write!(
            io::stderr(),
            "\r\x1b[K{percent:3} %  {read} of {all} rows read"
        );
    }
}

fn clear() {
    let _ = write!(io::stderr(), "\r\x1b[K");
}

/// The number of rows that the sources have read, and the number that they contain.
fn rows(plan: &dyn ExecutionPlan) -> (usize, usize) {
    let (mut read, mut all) = (0usize, 0usize);
    for_each_node(plan, &mut |node| {
        let Some(source) = node.downcast_ref::<DataSourceExec>() else {
            return;
        };
        let counted = node
            .metrics()
            .and_then(|metrics| metrics.sum_by_name("rows_read"));
        read = read.saturating_add(counted.map_or(0, |counted| counted.as_usize()));
        let statistics = source.data_source().partition_statistics(None);
        if let Ok(Precision::Exact(rows) | Precision::Inexact(rows)) =
            statistics.map(|statistics| statistics.num_rows)
        {
            all = all.saturating_add(rows);
        }
    });
    (read, all)
}
