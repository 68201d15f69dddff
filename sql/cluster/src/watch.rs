//! Ends queries that cannot continue.
//!
//! When the loss of an executor keeps a query from continuing, Ballista only logs the reason, and the client would wait
//! forever.

use ballista_core::JobId;
use ballista_core::error::Result;
use ballista_scheduler::cluster::JobState;
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::execution_graph::ExecutionGraph;
use ballista_scheduler::state::execution_stage::ExecutionStage;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often all queries are checked.
const PERIOD: Duration = Duration::from_secs(1);
/// How long a query that cannot run waits before it is ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// The error of such a query.
const LOST: &str = "it cannot go on, since an executor was lost, which the scheduler has reported\n  start the query again";

type Scheduler = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Ends idle queries: after `PATIENCE` if none of the query's tasks can start, otherwise after `wait` in which no other
/// query runs.
pub async fn end_stuck_jobs(scheduler: Scheduler, jobs: Arc<dyn JobState>, wait: Duration) {
    let mut stuck_since = HashMap::new();
    loop {
        tokio::time::sleep(PERIOD).await;
        let stuck = stuck_jobs(&scheduler).await;
        stuck_since.retain(|job, _| stuck.contains_key(job));
        for (job, may_run) in stuck {
            let since = stuck_since.entry(job.clone()).or_insert_with(Instant::now);
            if since.elapsed() < if may_run { wait } else { PATIENCE } {
                continue;
            }
            if let Err(error) = end(&scheduler, &*jobs, &job).await {
                eprintln!("blpk-cluster: {job}: {error}");
            }
        }
    }
}

/// The idle queries, and whether executors could start one of their tasks. Excludes queries that wait for other queries.
async fn stuck_jobs(scheduler: &Scheduler) -> HashMap<JobId, bool> {
    let jobs = scheduler.state.task_manager.get_running_job_cache();
    let mut idle = HashMap::new();
    let mut others_run = false;
    for (job, info) in jobs.iter() {
        let graph = info.execution_graph.read().await;
        if is_idle(&**graph) {
            _ = idle.insert(job.clone(), may_run(&**graph))
        } else {
            others_run = true
        }
    }
    idle.retain(|_, may_run| !(*may_run && others_run));
    idle
}

/// Whether an unfinished query has no running task.
fn is_idle(graph: &dyn ExecutionGraph) -> bool {
    graph.running_tasks().is_empty() && !graph.is_successful()
}

/// Whether a query has tasks that an executor could start.
fn may_run(graph: &dyn ExecutionGraph) -> bool {
    let mut stages = graph.stages().values();
    graph.available_tasks() > 0 || stages.any(|stage| matches!(stage, ExecutionStage::Resolved(_)))
}

/// Ends a query with an error.
async fn end(scheduler: &Scheduler, jobs: &dyn JobState, job: &JobId) -> Result<()> {
    let running = scheduler.state.task_manager.get_running_job_cache();
    if let Some(info) = running.get(job) {
        let mut graph = info.execution_graph.write().await;
        if !is_idle(&**graph) {
            return Ok(());
        }
        graph.fail_job(LOST.to_owned());
        // The client receives this reason rather than the error of the next step.
        jobs.save_job(job, &graph).await?;
    }
    scheduler.cancel_job(job.clone()).await
}
