//! Runs an executor.

use crate::args::ExecutorArgs;
use crate::{Result, announce, host_of};
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::health::ExecutorHealth;
use bloscpack_datafusion::{TableOptions, plan};
use blpk_cluster::{LogicalCodec, PhysicalCodec};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

/// Seconds between two heartbeats.
const HEARTBEAT: u64 = 1;
/// How often to check whether the executor is registered with the scheduler.
const PERIOD: Duration = Duration::from_millis(50);

/// Serves until the process is asked to stop.
pub async fn run(args: ExecutorArgs) -> Result<()> {
    let options = options(&args)?;
    let temporary = match &args.work_dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)
                .map_err(|error| format!("'{}': {error}", dir.display()))?;
            None
        }
        None => Some(tempfile::tempdir()?),
    };
    let work_dir = temporary
        .as_ref()
        .map(|dir| dir.path().to_owned())
        .or(args.work_dir);
    let work_dir = work_dir.as_deref().and_then(|dir| dir.to_str());
    let work_dir = work_dir.ok_or("--work-dir: this is not text in UTF-8")?;
    let bind = args.place.bind;
    let ports = [args.port, 0].map(|port| TcpListener::bind((bind, port)));
    let [flight, calls] = ports.map(|socket| Ok::<_, std::io::Error>(socket?.local_addr()?.port()));
    let port = flight.map_err(|error| format!("{bind}:{}: {error}", args.port))?;
    let (scheduler_host, scheduler_port) = args.scheduler;
    let mut functions = BallistaFunctionRegistry::default();
    let ours = plan::functions()
        .iter()
        .map(|function| (function.name().to_owned(), Arc::clone(function)));
    functions.scalar_functions.extend(ours);
    let health = ExecutorHealth::new();
    let host = args.place.host;
    let config = ExecutorProcessConfig {
        bind_host: host_of(bind),
        external_host: host.clone(),
        port,
        grpc_port: calls?,
        scheduler_host,
        scheduler_port,
        vcores: usize::try_from(args.vcores)?,
        work_dir: Some(work_dir.to_owned()),
        executor_heartbeat_interval_seconds: HEARTBEAT,
        memory_pool_size: args.memory,
        override_logical_codec: Some(Arc::new(LogicalCodec::new(&options))),
        override_physical_codec: Some(Arc::new(PhysicalCodec::new(&options))),
        // Ballista decodes some parts of plans without these codecs.
        override_function_registry: Some(Arc::new(functions)),
        health: health.clone(),
        ..ExecutorProcessConfig::default()
    };
    let host = host.unwrap_or_else(|| host_of(bind));
    let announced = tokio::spawn(async move {
        while !health.is_ready() {
            tokio::time::sleep(PERIOD).await;
        }
        announce(&host, port)
    });
    let ended = start_executor_process(Arc::new(config)).await;
    announced.abort();
    Ok(ended?)
}

#[cfg(feature = "remote")]
fn options(args: &ExecutorArgs) -> Result<TableOptions> {
    use bloscpack_remote::{Remote, RemoteOptions};
    let mut options = RemoteOptions::new();
    for option in &args.store {
        let (key, value) = option
            .split_once('=')
            .ok_or("--store: expected KEY=VALUE")?;
        options = options.set(key, value);
    }
    Ok(TableOptions::new().remote(Remote::new(options)?))
}

#[cfg(not(feature = "remote"))]
fn options(_: &ExecutorArgs) -> Result<TableOptions> {
    Ok(TableOptions::new())
}
