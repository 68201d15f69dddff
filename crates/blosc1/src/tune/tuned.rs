//! What was chosen, and why.

use std::fmt;

use super::{Aim, Trial};
use crate::{ChunkSettings, Filter};

/// Settings chosen by a [`Tuner`](super::Tuner), with all that was tried.
///
/// It displays as one line that says what was chosen and why.
///
/// ```
/// use blosc1::{Aim, Tuner};
///
/// let tuned = Tuner::new(Aim::Speed).tune(&[7; 100_000])?;
/// assert!(tuned.best().ratio() > 100.0);
/// assert_eq!(tuned.best().settings(), tuned.settings());
/// assert!(tuned.to_string().contains("for speed"));
/// # Ok::<(), blosc1::ChunkError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuned {
    pub(super) aim: Aim,
    /// The choice.
    pub(super) best: Trial,
    /// All, the choice first.
    pub(super) trials: Vec<Trial>,
}

impl Tuned {
    /// What was aimed at.
    #[must_use]
    pub const fn aim(&self) -> Aim {
        self.aim
    }

    /// The settings to use.
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        self.best.settings()
    }

    /// The trial of those settings.
    #[must_use]
    pub const fn best(&self) -> &Trial {
        &self.best
    }

    /// All trials on which the choice stands, from the best on. What was ruled out earlier, by its
    /// typesize or filter, is not among them.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }
}

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (aim, best) = (self.aim, &self.best);
        Words(best.settings()).fmt(f)?;
        write!(
            f,
            ": chosen for {aim} out of {} trials: {:.2} times smaller, {:.0} MB/s to compress and {:.0} to decompress",
            self.trials.len(),
            best.ratio(),
            best.encode_speed(),
            best.decode_speed(),
        )?;
        if aim != Aim::Size {
            write!(f, ", {:.2} s/GB in all", best.score(aim))?;
        }
        let compressor = best.settings().compressor;
        let other = |trial: &&Trial| trial.settings().compressor != compressor;
        let Some(next) = self.trials.iter().find(other) else {
            return Ok(());
        };
        f.write_str("; next ")?;
        Words(next.settings()).fmt(f)?;
        match aim {
            Aim::Size => write!(f, ", {:.2} times", next.ratio()),
            _ => write!(f, ", {:.2} s/GB", next.score(aim)),
        }
    }
}

/// Settings in words.
struct Words<'a>(&'a ChunkSettings);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0;
        write!(f, "{} level {}", settings.compressor, settings.level)?;
        match settings.filter {
            Filter::None => write!(f, ", no filter, typesize {}", settings.typesize),
            Filter::Byte => write!(f, ", byte shuffle, typesize {}", settings.typesize),
            Filter::Bit => write!(f, ", bitshuffle, typesize {}", settings.typesize),
        }
    }
}
