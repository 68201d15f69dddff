//! Runs a scheduler.

use crate::args::SchedulerArgs;
use crate::{Result, announce, host_of, watch};
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use bloscpack_datafusion::plan;
use blpk_cluster::{LogicalCodec, PhysicalCodec};
use datafusion::execution::FunctionRegistry as _;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Serves until the process ends.
pub async fn run(args: SchedulerArgs) -> Result<()> {
    let place = args.place;
    let host = match place.host {
        Some(host) => host,
        None if place.bind.is_unspecified() => {
            return Err(
                "--bind to all addresses needs --host, which executors and clients reach".into(),
            );
        }
        None => host_of(place.bind),
    };
    let listener = TcpListener::bind((place.bind, args.port)).await;
    let listener = listener.map_err(|error| format!("{}:{}: {error}", place.bind, args.port))?;
    let port = listener.local_addr()?.port();
    let config = SchedulerConfig {
        bind_host: host_of(place.bind),
        bind_port: port,
        external_host: host.clone(),
        executor_timeout_seconds: args.timeout,
        expire_dead_executor_interval_seconds: args.timeout / 4,
        no_executors_grace_period_seconds: args.timeout,
        override_logical_codec: Some(Arc::<LogicalCodec>::default()),
        override_physical_codec: Some(Arc::<PhysicalCodec>::default()),
        // Overrides the client's setting. After the loss of an executor, the other planner of Ballista 55 repeats tasks of a
        // stage whose rows it keeps, so rows would appear twice. This planner never continues such a stage; see `watch`.
        override_session_builder: Some(Arc::new(|config| {
            let config = config.with_ballista_adaptive_query_planner(true);
            let mut state = default_session_builder(config)?;
            for function in plan::functions() {
                state.register_udf(Arc::clone(function))?;
            }
            Ok(state)
        })),
        ..SchedulerConfig::default()
    };
    config.validate()?;
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let jobs = cluster.job_state();
    let config = Arc::new(config);
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, config).await?;
    let patience = Duration::from_secs(args.timeout);
    let watched = tokio::spawn(watch::end_stuck_jobs(scheduler.clone(), jobs, patience));
    announce(&host, port)?;
    let ended = start_grpc_service_with_listener(listener, scheduler).await;
    watched.abort();
    Ok(ended?)
}
