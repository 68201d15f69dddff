//! Makes the session with the tables of the command line.

use crate::args::Args;
use crate::failure::Failure;
use bloscpack_datafusion::{BloscpackTable, TableOptions};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// A session with the tables of the command line, in which paths and URLs are table names as well.
pub async fn context(args: &Args) -> Result<SessionContext, Failure> {
    let options = options(args)?;
    let options = if args.nan_as_null {
        options.nan_as_null()
    } else {
        options
    };
    #[cfg(feature = "cluster")]
    if let Some(url) = &args.cluster {
        let context =
            blpk_cluster::connect(url, args.threads.map(|threads| threads.max(1)), &options)
                .await?;
        return with_tables(context, args, &options.shared()).await;
    }
    with_tables(local(args, &options)?, args, &options).await
}

/// A session without a cluster.
fn local(args: &Args, options: &TableOptions) -> Result<SessionContext, Failure> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = args.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(bytes) = args.memory {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(bytes)));
    }
    Ok(bloscpack_datafusion::context_with(
        config,
        runtime.build_arc()?,
        options,
    )?)
}

async fn with_tables(
    context: SessionContext,
    args: &Args,
    options: &TableOptions,
) -> Result<SessionContext, Failure> {
    for (name, path) in &args.table {
        let table = BloscpackTable::open_async(path, options).await?;
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
