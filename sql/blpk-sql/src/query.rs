//! Runs statements one after another.

use crate::args::Args;
use crate::failure::Failure;
use crate::output::{self, Output};
use crate::progress::Progress;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement;
use futures_util::StreamExt as _;
use std::sync::Arc;

/// Runs all statements. Results of all but the last go to standard output.
pub async fn run(context: &SessionContext, text: &str, args: &Arc<Args>) -> Result<(), Failure> {
    let statements = bloscpack_datafusion::statements(text)?;
    if statements.is_empty() {
        return Err(Failure::usage("there is no statement to run"));
    }
    let last = statements.len() - 1;
    for (number, statement) in statements.into_iter().enumerate() {
        // A task of its own computes, so that this one stays free to notice Ctrl-C.
        let (context, args) = (context.clone(), Arc::clone(args));
        let is_last = number == last;
        let mut task = tokio::spawn(async move { one(&context, statement, &args, is_last).await });
        tokio::select! {
            done = &mut task => done.map_err(|error| Failure::failed(error.to_string()))??,
            _ = tokio::signal::ctrl_c() => {
                task.abort();
                output::discard();
                return Err(Failure::interrupted());
            }
        }
    }
    Ok(())
}

async fn one(
    context: &SessionContext,
    statement: Statement,
    args: &Args,
    is_last: bool,
) -> Result<(), Failure> {
    let plan = context.state().statement_to_plan(statement).await?;
    let frame = context.execute_logical_plan(plan).await?;
    let has_columns = !frame.schema().fields().is_empty();
    let tasks = frame.task_ctx();
    let plan = frame.create_physical_plan().await?;
    let mut rows = execute_stream(Arc::clone(&plan), Arc::new(tasks))?;
    let mut output = if has_columns {
        Some(Output::new(args, is_last, rows.schema())?)
    } else {
        None
    };
    let progress = Progress::start(args, Arc::clone(&plan));
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        let Some(output) = &mut output else { continue };
        progress.pause();
        if !output.write(&batch)? {
            break;
        }
    }
    drop(rows);
    progress.end();
    match output {
        Some(output) => output.finish(),
        None => Ok(()),
    }
}

/// Calls `take` for each node of a plan.
pub fn for_each_node(plan: &dyn ExecutionPlan, take: &mut dyn FnMut(&dyn ExecutionPlan)) {
    take(plan);
    for child in plan.children() {
        for_each_node(&**child, take);
    }
}
