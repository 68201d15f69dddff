//! `blpk verify` of Blosc2 frames.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bloscpack::frame::FrameReport;

use crate::frame::open;
use crate::message::Failure;
use crate::progress::Progress;
use crate::session::Session;

/// Reads all of a frame.
pub fn examine(path: &Path, session: &Session) -> Result<FrameReport, Failure> {
    let frame = open(path, session)?;
    // Several threads tell of what they have read.
    let progress = Mutex::new(Progress::new(session, Some(frame.content_len())));
    Ok(frame.verify(|bytes| {
        let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.advance(bytes);
    }))
}
