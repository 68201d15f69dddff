//! Refusals of Blosc2 frames, for commands that need a Bloscpack file.

use std::path::Path;

use bloscpack_open::{Family, probe_source};

use crate::failure::{About as _, Failure};
use crate::input::{self, Input};
use crate::status::Status;
use crate::text::is_url;

/// Advice for a frame where a Bloscpack file is needed.
pub const READ: &str = "blpk cat prints its bytes, and blpk export converts its array to .npy";

/// Refuses a frame where a Bloscpack file is needed. `hint` names the command for frames.
pub fn refuse(path: &Path, hint: &str) -> Result<(), Failure> {
    if is_url(path) || !input::is_frame(path)? {
        return Ok(());
    }
    Err(refusal(&input::name(path), hint))
}

/// Refuses a frame at a URL, which is recognized by its content only.
pub fn refuse_object(input: &Input, hint: &str) -> Result<(), Failure> {
    let Some(object) = input.by_position().filter(|_| input.is_remote()) else {
        return Ok(());
    };
    let probed = probe_source(object).about(&input.name())?;
    if probed.family == Some(Family::Frame) {
        return Err(refusal(&input.name(), hint));
    }
    Ok(())
}

fn refusal(name: &str, hint: &str) -> Failure {
    let title = format!("{name} is a Blosc2 frame, which this command does not support");
    Failure::new(Status::Unsupported, title).hint(hint)
}
