//! [`connect`]: sessions whose queries a cluster runs.

use crate::codec::{LogicalCodec, PhysicalCodec};
use ballista::extension::SessionContextExt as _;
use ballista_core::extension::SessionConfigExt as _;
use bloscpack_datafusion::TableOptions;
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The maximum time for a scheduler to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum number of bytes to read of an answer.
const ANSWER: u64 = 4096;

/// A session whose queries run on the executors of the cluster at a URL, such as `df://127.0.0.1:50050`. Paths and URLs are
/// table names, as in [`bloscpack_datafusion::context`]; relative paths start at the working directory of this process. Each
/// stage is cut into `partitions` partitions, 16 by default.
///
/// # Errors
/// Returns an error with advice if the URL has another form, if no scheduler answers, or if the scheduler has no executor.
pub async fn connect(
    url: &str,
    partitions: Option<usize>,
    options: &TableOptions,
) -> Result<SessionContext> {
    let Some(address) = url
        .strip_prefix("df://")
        .map(|rest| rest.trim_end_matches('/'))
    else {
        return plan_err!("'{url}' is not the URL of a cluster, such as df://127.0.0.1:50050");
    };
    look(address).await?;
    let options = options.clone().shared();
    let mut config = SessionConfig::new_with_ballista()
        .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::new(&options)))
        .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::new(&options)));
    if let Some(partitions) = partitions {
        config = config.with_target_partitions(partitions);
    }
    let local = bloscpack_datafusion::context_with(config, Arc::default(), &options)?;
    SessionContext::remote_with_state(url, local.state()).await
}

/// Checks that a scheduler answers and has an executor. Without one, a query would wait.
async fn look(address: &str) -> Result<()> {
    let answer = timeout(PATIENCE, ask(address)).await;
    let answer = answer.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let answer = answer.map_err(|error| {
        exec_datafusion_err!(
            "no scheduler answers at {address}: {error}\n  blpk-cluster scheduler starts one"
        )
    })?;
    match answer.split_whitespace().nth(1) {
        Some("200") => Ok(()),
        Some("503") => exec_err!(
            "the scheduler at {address} has no executor\n  blpk-cluster executor --scheduler {address} starts one"
        ),
        _ => exec_err!("{address} is not the address of a scheduler"),
    }
}

/// Asks the scheduler for its executors.
async fn ask(address: &str) -> io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    socket.take(ANSWER).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
