//! The result of tuning.

use std::fmt;

use super::aim::Aim;
use super::trial::Trial;
use crate::{ChunkSettings, Filter};

/// The settings that a [`Tuner`](super::Tuner) chose, with all trials.
///
/// [`Display`](fmt::Display) writes one line with the choice and the reasons for it.
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
    /// The trial of the chosen settings.
    pub(super) best: Trial,
    /// All trials, the chosen one first.
    pub(super) trials: Vec<Trial>,
}

impl Tuned {
    /// The aim of the tuner.
    #[must_use]
    pub const fn aim(&self) -> Aim {
        self.aim
    }

    /// The chosen settings, for [`ChunkEncoder::new`](crate::ChunkEncoder::new).
    #[must_use]
    pub const fn settings(&self) -> &ChunkSettings {
        self.best.settings()
    }

    /// The trial of the chosen settings.
    #[must_use]
    pub const fn best(&self) -> &Trial {
        &self.best
    }

    /// All trials on which the choice is based, the best first; at least one. Settings that were
    /// ruled out earlier, by their typesize or filter, are not included.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }
}

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (aim, best) = (self.aim, &self.best);
        SettingsText(best.settings()).fmt(f)?;
        let trials = match self.trials.len() {
            1 => "1 trial".to_owned(),
            count => format!("{count} trials"),
        };
        write!(
            f,
            ": chosen for {aim} from {trials}: {:.2} times smaller, compresses at {:.0} MB/s, \
             decompresses at {:.0} MB/s",
            best.ratio(),
            best.encode_speed(),
            best.decode_speed(),
        )?;
        if aim != Aim::Size {
            write!(f, ", {:.2} s/GB in total", best.score(aim))?;
        }
        let compressor = best.settings().compressor;
        let other = |trial: &&Trial| trial.settings().compressor != compressor;
        let Some(next) = self.trials.iter().find(other) else {
            return Ok(());
        };
        f.write_str("; next best ")?;
        SettingsText(next.settings()).fmt(f)?;
        match aim {
            Aim::Size => write!(f, ", {:.2} times", next.ratio()),
            _ => write!(f, ", {:.2} s/GB", next.score(aim)),
        }
    }
}

/// Displays settings as text.
struct SettingsText<'a>(&'a ChunkSettings);

impl fmt::Display for SettingsText<'_> {
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
