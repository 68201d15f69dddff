//! The session, with the tables of the command line.

use crate::args::Args;
use crate::failure::Failure;
use bloscpack_datafusion::{BloscpackTable, TableOptions};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// A session that knows the tables of the command line, and paths and URLs as names.
pub async fn context(args: &Args) -> Result<SessionContext, Failure> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = args.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(bytes) = args.memory {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(bytes)));
    }
    let options = options(args)?;
    let context = bloscpack_datafusion::context_with(config, runtime.build_arc()?, &options)?;
    for (name, path) in &args.table {
        let table = BloscpackTable::open_async(path, &options).await?;
        context.register_table(name.as_str(), Arc::new(table))?;
    }
    Ok(context)
}

#[cfg(feature = "remote")]
fn options(args: &Args) -> Result<TableOptions, Failure> {
    use bloscpack_remote::{Remote, RemoteOptions};
    let mut options = RemoteOptions::new();
    for option in &args.store {
        let Some((key, value)) = option.split_once('=') else {
            return Err(Failure::usage("--store: expected KEY=VALUE"));
        };
        options = options.set(key, value);
    }
    Ok(TableOptions::new().remote(Remote::new(options)?))
}

#[cfg(not(feature = "remote"))]
fn options(_: &Args) -> Result<TableOptions, Failure> {
    Ok(TableOptions::new())
}
