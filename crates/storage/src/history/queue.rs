//! Queueing of writers.

use super::{PROCESSES, QUEUE};
use crate::error::busy;
use crate::process::Process;
use crate::{Lock, LockTimeout, Presence};
use std::io;

/// Tries to become the only writer of the file or store with this handle, in the order in which writers
/// arrived.
///
/// # Errors
/// Returns [`ResourceBusy`](io::ErrorKind::ResourceBusy), which names the process that is writing to `what`,
/// after the timeout, and the errors of `attempt`.
pub(crate) fn as_only_writer<F: Lock, T, E: From<io::Error>>(
    (handle, what): (Option<&F>, &str),
    timeout: &LockTimeout,
    attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<T, E> {
    let presence = handle.and_then(Lock::presence);
    let ticket = match presence {
        Some(presence) => take_ticket(presence)?,
        None => None,
    };
    let became = wait(timeout, (presence, ticket), attempt);
    if let (Some(presence), Some(ticket)) = (presence, ticket) {
        presence.withdraw(ticket)?;
    }
    match became? {
        Some(writer) => Ok(writer),
        None => Err(busy(&format!("{} is writing to this {what}", holder(presence)?)).into()),
    }
}

/// Queues behind all waiting writers; `None` if others would not see it.
fn take_ticket(presence: &dyn Presence) -> io::Result<Option<u64>> {
    let mut ticket = QUEUE.start;
    while let Some(last) = presence.announced(ticket..QUEUE.end)? {
        ticket = last + 1;
    }
    Ok(presence.announce(ticket)?.then_some(ticket))
}

fn wait<T, E: From<io::Error>>(
    timeout: &LockTimeout,
    (presence, ticket): (Option<&dyn Presence>, Option<u64>),
    mut attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let became = timeout.wait(|| {
        if let (Some(presence), Some(ticket)) = (presence, ticket)
            && presence.announced(QUEUE.start..ticket)?.is_some()
        {
            return Ok(None);
        }
        Ok(attempt().transpose())
    })?;
    became.transpose()
}

/// A name for the process that is writing.
fn holder(presence: Option<&dyn Presence>) -> io::Result<String> {
    let found = match presence {
        Some(presence) => presence.announced(PROCESSES)?,
        None => None,
    };
    Ok(match found.map(|slot| slot - PROCESSES.start) {
        Some(process) if process == u64::from(Process::current().id()) => "this process".to_owned(),
        Some(process) => format!("process {process}"),
        None => "another process".to_owned(),
    })
}

/// The slot of this process.
pub(super) fn own_slot() -> u64 {
    PROCESSES.start + u64::from(Process::current().id())
}
