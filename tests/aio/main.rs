//! Tests of the async codecs: equal to those that block, whatever the pieces, wherever a future is dropped; alive over streams
//! that stall; and never a burden on the executor's thread.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod codec;
mod connections;
mod decoding;
mod encoding;
mod ends;
mod executor;
mod liveness;

/// Runs a future on a runtime of this thread alone; only one that hangs takes a minute.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        let patience = std::time::Duration::from_secs(300);
        tokio::time::timeout(patience, future).await.unwrap()
    })
}
