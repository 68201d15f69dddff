//! The command `blpk`, run as users and scripts run it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "also in the helpers, which stand outside of test functions"
)]

#[path = "cli/append.rs"]
mod append;
#[path = "cli/auto.rs"]
mod auto;
#[path = "cli/cat.rs"]
mod cat;
use testkit::datasets as corpora;
#[path = "cli/datasets.rs"]
mod datasets;
#[path = "cli/datasets_changed.rs"]
mod datasets_changed;
#[path = "cli/datasets_exchanged.rs"]
mod datasets_exchanged;
use testkit::frames as frame_corpora;
#[path = "cli/frames.rs"]
mod frames;
#[path = "cli/help.rs"]
mod help;
#[cfg(unix)]
#[path = "cli/hostile.rs"]
mod hostile;
#[cfg(unix)]
use testkit::hostile_dirs;
#[path = "cli/metadata.rs"]
mod metadata;
#[path = "cli/naming.rs"]
mod naming;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/patch.rs"]
mod patch;
#[path = "cli/pipes.rs"]
mod pipes;
#[path = "cli/records.rs"]
mod records;
#[path = "cli/recover.rs"]
mod recover;
#[path = "cli/reindex.rs"]
mod reindex;
#[path = "cli/reports.rs"]
mod reports;
#[path = "cli/settings.rs"]
mod settings;
#[cfg(unix)]
#[path = "cli/signals.rs"]
mod signals;
#[cfg(unix)]
#[path = "cli/snapshot.rs"]
mod snapshot;
#[path = "cli/statuses.rs"]
mod statuses;
#[cfg(unix)]
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/support.rs"]
mod support;
#[cfg(target_os = "linux")]
#[path = "cli/terminal.rs"]
mod terminal;
