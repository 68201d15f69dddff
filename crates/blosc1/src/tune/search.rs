//! Searches for the best settings without trying all of them.
//!
//! 1. If shuffled windows do not shrink with a few typesizes, and a trial of each compressor
//!    without a filter confirms it, the data is noise, and these trials decide.
//! 2. Otherwise the typesizes are compared by shuffle or the given filter, with one compressor of
//!    each family. The best and the smallest of the others continue.
//! 3. Each family compares the filters for these typesizes. At most two choices continue.
//! 4. Each compressor tries its first level with these choices, and its other levels with the
//!    better one.
//!
//! Steps 2 and 3 use windows of the sample for [`Aim::Speed`] and [`Aim::Balance`], and more of it
//! for [`Aim::Size`]; step 4 uses all of it.

use super::Tuner;
use super::aim::Aim;
use super::sample;
use super::trial::{Trial, TrialRunner};
use super::tuned::Tuned;
use crate::layout::MIN_BUFFER;
use crate::{ChunkError, ChunkSettings, Compressor, Filter};

/// Typesizes to try. A later one must be better by a margin.
const TYPESIZES: [u8; 9] = [1, 2, 4, 8, 16, 3, 6, 12, 24];
/// A typesize is better if its output has at most this many hundredths of the size.
const CLEARLY: u128 = 97;
/// For [`Aim::Size`], outputs of up to this many hundredths of the smallest count as equally small.
const AS_SMALL: u128 = 101;
/// Data is text if every typesize above 1 leaves at least this many hundredths of what typesize 1
/// leaves.
const MUCH_LARGER: u128 = 115;
/// Data is noise if no trial leaves less than this many thousandths of it.
const NOISE: u64 = 995;

/// Length in bytes of the windows that compare typesizes and filters, if time counts.
const WINDOW: usize = 64 << 10;
/// Length in bytes of the windows that detect noise.
const GLIMPSE: usize = 16 << 10;
/// Typesizes with which the windows are tried: data that is not noise shrinks with one of them.
const GLIMPSED: [u8; 4] = [1, 2, 4, 8];

/// Compressors that only look for repetitions. The first one of the build represents the others.
const REPEATS: [Compressor; 4] = [
    Compressor::Lz4,
    Compressor::Blosclz,
    Compressor::Snappy,
    Compressor::Lz4hc,
];
/// Compressors with entropy coding. The first one of the build represents the other.
const ENTROPY: [Compressor; 2] = [Compressor::Zstd, Compressor::Zlib];

/// A typesize and a filter.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FilterChoice {
    typesize: u8,
    filter: Filter,
}

/// The search for one tuner and one sample.
pub(super) struct Search<'a> {
    tuner: Tuner,
    pieces: Vec<&'a [u8]>,
    runner: TrialRunner,
}

impl<'a> Search<'a> {
    pub fn new(tuner: Tuner, pieces: Vec<&'a [u8]>) -> Self {
        let runner = TrialRunner::default();
        Self {
            tuner,
            pieces,
            runner,
        }
    }

    /// Runs the search and ranks its trials.
    ///
    /// # Errors
    ///
    /// Returns the errors of the settings: see [`Tuner::tune`].
    pub fn run(mut self) -> Result<Tuned, ChunkError> {
        let is_enough = |piece: &&[u8]| piece.len() >= MIN_BUFFER as usize;
        if !self.pieces.iter().any(is_enough) {
            // Data this short is never compressed. The defaults suit other data that may follow.
            return self.defaults();
        }
        let families: Vec<_> = [&REPEATS[..], &ENTROPY[..]]
            .into_iter()
            .map(|family| self.allowed(family))
            .filter(|family| !family.is_empty())
            .collect();
        let mut trials = self.noise(&families)?;
        if trials.is_empty() {
            trials = self.competition(&families)?;
        }
        let aim = self.tuner.aim;
        rank(aim, &mut trials);
        match trials.first().copied() {
            Some(best) => Ok(Tuned { aim, best, trials }),
            // This build lacks the given compressor, or has none: the trial returns the error.
            None => self.defaults(),
        }
    }

    /// Tries typesizes, then filters, then compressors and levels.
    fn competition(&mut self, families: &[Vec<Compressor>]) -> Result<Vec<Trial>, ChunkError> {
        let typesizes = self.typesizes(families)?;
        let mut trials = Vec::new();
        for family in families {
            let choices = self.choices(family, &typesizes)?;
            for compressor in family {
                self.try_levels(*compressor, &choices, &mut trials)?;
            }
        }
        Ok(trials)
    }

    /// One trial of each compressor without a filter, if the data looks like noise and all trials
    /// confirm it; otherwise none.
    ///
    /// Noise is common, since compressed data looks like it, and should take next to no time. If
    /// the caller has set a filter or a level, data is never treated as noise.
    fn noise(&mut self, families: &[Vec<Compressor>]) -> Result<Vec<Trial>, ChunkError> {
        let scout = families.last().and_then(|family| family.first().copied());
        let (None, None, Some(scout)) = (self.tuner.filter, self.tuner.level, scout) else {
            return Ok(Vec::new());
        };
        let is_noise = |trial: &Trial| trial.leaves(NOISE);
        let glimpses = sample::windows(&self.pieces, GLIMPSE);
        let level = self.scout_level(scout);
        for typesize in GLIMPSED {
            let filter = Filter::Byte;
            let settings = self.settings(FilterChoice { typesize, filter }, scout, level);
            let trial = self
                .runner
                .run(settings, self.tuner.chunk_size, &glimpses)?;
            if !is_noise(&trial) {
                return Ok(Vec::new());
            }
        }
        let choice = FilterChoice {
            typesize: self.tuner.typesize.unwrap_or(1),
            filter: Filter::None,
        };
        let mut trials = Vec::new();
        for compressor in families.iter().flatten() {
            trials.push(self.try_choice(choice, *compressor, self.scout_level(*compressor))?);
        }
        Ok(if trials.iter().all(is_noise) {
            trials
        } else {
            Vec::new()
        })
    }

    /// Tries the first level of a compressor with all filter choices, and its other levels with the
    /// best of these.
    fn try_levels(
        &mut self,
        compressor: Compressor,
        choices: &[FilterChoice],
        trials: &mut Vec<Trial>,
    ) -> Result<(), ChunkError> {
        let levels = self.levels(compressor);
        let Some((first, others)) = levels.split_first() else {
            return Ok(());
        };
        let mut best: Option<(u128, FilterChoice)> = None;
        for choice in choices {
            let trial = self.try_choice(*choice, compressor, *first)?;
            let points = trial.points(self.tuner.aim);
            if best.is_none_or(|(least, _)| points < least) {
                best = Some((points, *choice));
            }
            trials.push(trial);
        }
        let Some((mut least, choice)) = best else {
            return Ok(());
        };
        for level in others {
            let trial = self.try_choice(choice, compressor, *level)?;
            let points = trial.points(self.tuner.aim);
            trials.push(trial);
            // If time counts, the levels are ordered so that none after a worse one is better.
            if self.tuner.aim != Aim::Size && points >= least {
                break;
            }
            least = least.min(points);
        }
        Ok(())
    }

    /// A single trial, of the provided settings and the defaults for the others.
    fn defaults(mut self) -> Result<Tuned, ChunkError> {
        let best = self.try_all(self.tuner.default_settings())?;
        Ok(Tuned {
            aim: self.tuner.aim,
            best,
            trials: vec![best],
        })
    }

    /// The compressors of a family that this build can write and that the caller allows.
    fn allowed(&self, family: &[Compressor]) -> Vec<Compressor> {
        let given = self.tuner.compressor;
        let mut allowed = family.to_vec();
        allowed.retain(|one| given.map_or(one.is_available(), |given| given == *one));
        if given.is_none() {
            allowed.retain(|one| !self.is_outdone(*one));
        }
        allowed
    }

    /// Whether another compressor of this build is always better in our measurements, so a trial
    /// would only take time. Snappy is also missing from some builds of C-Blosc.
    fn is_outdone(&self, compressor: Compressor) -> bool {
        match compressor {
            Compressor::Snappy => Compressor::Lz4.is_available(),
            Compressor::Lz4hc | Compressor::Zlib => {
                self.tuner.aim != Aim::Size && Compressor::Zstd.is_available()
            }
            Compressor::Blosclz | Compressor::Lz4 | Compressor::Zstd => false,
        }
    }

    /// The part of the sample that compares typesizes and filters.
    fn scouted(&self) -> Vec<&'a [u8]> {
        match self.tuner.aim {
            Aim::Size => self.pieces.clone(),
            Aim::Speed | Aim::Balance => sample::windows(&self.pieces, WINDOW),
        }
    }

    /// The likeliest typesizes, at most two.
    fn typesizes(&mut self, families: &[Vec<Compressor>]) -> Result<Vec<u8>, ChunkError> {
        if let Some(given) = self.tuner.typesize {
            return Ok(vec![given]);
        }
        let filter = self.tuner.filter.filter(|filter| *filter != Filter::None);
        let filter = filter.unwrap_or(Filter::Byte);
        let mut scouted = self.scouted();
        if self.tuner.aim == Aim::Size {
            // Half of each piece is enough.
            scouted = scouted
                .iter()
                .map(|piece| &piece[..piece.len() / 2])
                .collect();
        }
        let mut sizes = Vec::new();
        for typesize in TYPESIZES {
            if typesize > 8 || typesize == 6 {
                // A smaller typesize that divides these has shown whether there are elements at
                // all.
                if is_text(&sizes) {
                    continue;
                }
            }
            let choice = FilterChoice { typesize, filter };
            let mut size = 0;
            for family in families {
                if let Some(compressor) = family.first() {
                    let settings =
                        self.settings(choice, *compressor, self.scout_level(*compressor));
                    let trial = self.runner.run(settings, self.tuner.chunk_size, &scouted)?;
                    size += trial.points(Aim::Size);
                }
            }
            sizes.push((size, typesize));
        }
        Ok(likeliest(&sizes))
    }

    /// The best filters and typesizes for the compressors of a family, at most two, by trials of
    /// its first one.
    fn choices(
        &mut self,
        family: &[Compressor],
        typesizes: &[u8],
    ) -> Result<Vec<FilterChoice>, ChunkError> {
        let mut candidates = Vec::new();
        for (rank, typesize) in typesizes.iter().copied().enumerate() {
            for filter in Filter::ALL {
                let asked = self.tuner.filter.is_none_or(|given| given == filter);
                // Without a filter, the typesize hardly matters; shuffle does not change single
                // bytes.
                let is_new = match filter {
                    Filter::None => rank == 0,
                    Filter::Byte => typesize > 1 || self.tuner.filter.is_some(),
                    Filter::Bit => true,
                };
                if asked && is_new {
                    candidates.push(FilterChoice { typesize, filter });
                }
            }
        }
        let (aim, Some(scout)) = (self.tuner.aim, family.first().copied()) else {
            return Ok(Vec::new());
        };
        if candidates.len() > 1 {
            let mut scored = Vec::new();
            let scouted = self.scouted();
            for choice in candidates {
                let settings = self.settings(choice, scout, self.scout_level(scout));
                let trial = self.runner.run(settings, self.tuner.chunk_size, &scouted)?;
                scored.push((trial.points(aim), choice));
            }
            // The sort is stable: simpler filters come first.
            scored.sort_by_key(|(points, _)| *points);
            let best = scored.first().map_or(0, |(points, _)| *points);
            // A choice that is much worse at one level is not the best at another.
            scored.retain(|(points, _)| *points * 100 <= best * 120);
            candidates = scored.into_iter().map(|(_, choice)| choice).collect();
            candidates.truncate(2);
        }
        Ok(candidates)
    }

    /// A fast level for comparing filters and typesizes.
    fn scout_level(&self, compressor: Compressor) -> u8 {
        let fast = match (compressor.is_thorough(), self.tuner.aim) {
            (false, _) => 9,
            (true, Aim::Speed | Aim::Balance) => 1,
            (true, Aim::Size) => 3,
        };
        self.tuner.level.unwrap_or(fast)
    }

    /// The levels to try, for [`Aim::Speed`] and [`Aim::Balance`] in the order in which the search
    /// may stop.
    fn levels(&self, compressor: Compressor) -> Vec<u8> {
        if let Some(level) = self.tuner.level {
            return vec![level];
        }
        let is_given = self.tuner.compressor.is_some();
        let levels: &[u8] = match (self.tuner.aim, compressor) {
            (_, Compressor::Snappy) => &[9],
            (Aim::Size, Compressor::Lz4 | Compressor::Blosclz) => &[9],
            (Aim::Size, Compressor::Lz4hc) if is_given => &[5, 3, 7, 9],
            (Aim::Size, Compressor::Lz4hc) => &[5, 9],
            (Aim::Size, Compressor::Zlib) => &[6, 3, 9],
            (Aim::Size, Compressor::Zstd) => &[4, 5, 6, 7, 8, 9],
            (_, Compressor::Lz4 | Compressor::Blosclz) => &[9, 5, 1],
            (Aim::Speed, Compressor::Lz4hc | Compressor::Zlib) => &[1],
            (Aim::Balance, Compressor::Lz4hc) if is_given => &[1, 3, 5],
            (_, Compressor::Lz4hc) => &[1],
            (_, Compressor::Zlib) => &[1, 3],
            (Aim::Speed, Compressor::Zstd) => &[1, 2],
            (Aim::Balance, Compressor::Zstd) => &[1, 2, 3, 4],
        };
        levels.to_vec()
    }

    /// A trial on the whole sample.
    fn try_choice(
        &mut self,
        choice: FilterChoice,
        compressor: Compressor,
        level: u8,
    ) -> Result<Trial, ChunkError> {
        self.try_all(self.settings(choice, compressor, level))
    }

    fn try_all(&mut self, settings: ChunkSettings) -> Result<Trial, ChunkError> {
        self.runner
            .run(settings, self.tuner.chunk_size, &self.pieces)
    }

    /// The settings of a trial. The block size is the given one.
    fn settings(&self, choice: FilterChoice, compressor: Compressor, level: u8) -> ChunkSettings {
        ChunkSettings {
            compressor,
            level,
            filter: choice.filter,
            typesize: choice.typesize,
            blocksize: self.tuner.blocksize,
            ..ChunkSettings::default()
        }
    }
}

/// Whether the data has no elements of several bytes, by the sizes of the trials so far. The first
/// of them is typesize 1.
fn is_text(sizes: &[(u128, u8)]) -> bool {
    let Some(((bytes, _), others)) = sizes.split_first() else {
        return false;
    };
    let mut others = others.iter().map(|(size, _)| size);
    others.all(|size| size * 100 >= bytes * MUCH_LARGER)
}

/// The typesize that no later one clearly beats, followed by the smallest of the others.
fn likeliest(sizes: &[(u128, u8)]) -> Vec<u8> {
    let mut best: Option<(u128, u8)> = None;
    for (size, typesize) in sizes {
        if best.is_none_or(|(least, _)| size * 100 < least * CLEARLY) {
            best = Some((*size, *typesize));
        }
    }
    let best = best.map(|(_, typesize)| typesize);
    let others = sizes.iter().filter(|(_, one)| Some(*one) != best);
    let second = others.min_by_key(|(size, _)| *size);
    best.into_iter()
        .chain(second.map(|(_, typesize)| *typesize))
        .collect()
}

/// Sorts the trials, the best first.
fn rank(aim: Aim, trials: &mut [Trial]) {
    trials.sort_by_key(|trial| (trial.points(aim), trial.pace()));
    if aim == Aim::Size {
        let least = trials.first().map_or(0, |trial| trial.points(aim));
        let equal = trials.partition_point(|trial| trial.points(aim) * 100 <= least * AS_SMALL);
        if let Some(equal) = trials.get_mut(..equal) {
            equal.sort_by_key(Trial::pace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_text, likeliest};

    #[test]
    fn in_text_all_other_sizes_are_much_larger() {
        assert!(is_text(&[(100, 1), (120, 2), (115, 4)]));
        assert!(!is_text(&[(100, 1), (120, 2), (114, 4)]));
        assert!(!is_text(&[]));
    }

    #[test]
    fn a_later_typesize_has_to_be_clearly_better() {
        assert_eq!(likeliest(&[(100, 1), (98, 2), (99, 4)]), [1, 2]);
        assert_eq!(likeliest(&[(100, 1), (90, 2), (50, 4), (49, 8)]), [4, 8]);
        assert_eq!(likeliest(&[(7, 3)]), [3]);
        assert_eq!(likeliest(&[(0, 1), (0, 2)]), [1, 2]);
    }
}
