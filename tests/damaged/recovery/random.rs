//! Tests of random damage, the same in every run.

use crate::recovery::cases::{counted, others};
use crate::recovery::golden::Random;
use crate::recovery::model::{Model, reported};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::effort;

/// Bytes of the longest header.
const HEAD: usize = 32;

/// The damage, for messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Damage {
    Zeros(Range<usize>),
    Noise(Range<usize>),
    Flip(usize, u32),
    Cut(usize),
    Insert(usize, usize),
    Delete(Range<usize>),
    Swap(usize, usize),
    Duplicate(usize, usize),
}

impl Damage {
    fn random(model: &Model, random: &mut Random) -> Self {
        let (len, chunks) = (model.len(), model.chunks());
        let number = random.below(chunks.len());
        let mut second = random.below(chunks.len());
        if !model.are_of_one(number, second) {
            second = number;
        }
        let chunk = chunks[number].clone();
        let others = model.others();
        let other = others[random.below(others.len())].clone();
        let at = match random.below(6) {
            0 => chunk.start,
            1 => chunk.start + random.below(16),
            2 => other.start,
            3 => chunk.end - random.below(5) - 1,
            _ => random.below(len),
        };
        let short = [1, 4, 16, 100, 1500, 4000][random.below(6)];
        let range = at..(at + 1 + random.below(short)).min(len);
        match random.below(12) {
            0 | 1 => Self::Zeros(range),
            2 | 3 => Self::Noise(range),
            4 => Self::Zeros(chunk),
            5 => Self::Noise(other),
            6 => Self::Flip(at, random.below(8) as u32),
            7 => Self::Cut(at),
            8 => Self::Insert(at, 1 + random.below(short)),
            9 => Self::Delete(range),
            10 => Self::Swap(number, second),
            _ => Self::Duplicate(number, second),
        }
    }

    pub fn apply(&self, model: &mut Model, random: &mut Random) {
        let mut noise = |len: usize| -> Vec<u8> { (0..len).map(|_| random.next() as u8).collect() };
        match self.clone() {
            Self::Zeros(range) => model.overwrite(range.start, &vec![0; range.len()]),
            Self::Noise(range) => model.overwrite(range.start, &noise(range.len())),
            Self::Flip(at, bit) => model.flip(at, bit),
            Self::Cut(len) => model.cut(len),
            Self::Insert(at, len) => model.insert(at, &noise(len)),
            Self::Delete(range) => model.delete(range),
            Self::Swap(one, other) => model.swap(one, other),
            Self::Duplicate(from, behind) => model.duplicate(from, behind),
        }
    }

    /// Whether a chunk shorter than the others, which marks an end, gets elsewhere.
    fn moves_last(&self, model: &Model) -> bool {
        let (Self::Swap(one, other) | Self::Duplicate(one, other)) = self else {
            return false;
        };
        [*one, *other].iter().any(|number| model.is_short(*number))
    }

    /// Whether the rest of the file shows each chunk's position in the content. If bytes are missing, an unknown
    /// number of whole chunks may be among them.
    fn keeps_places(&self, damaged: &Model) -> bool {
        match self {
            Self::Swap(..) | Self::Duplicate(..) => false,
            Self::Delete(_) => damaged.damaged_chunks() <= 1,
            _ => true,
        }
    }
}

/// Runs a case and notes its failures.
pub fn case(failures: &mut Vec<String>, check: impl FnOnce() -> bool) -> usize {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(counts) => usize::from(counts),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            failures.push(words.unwrap_or_default());
            0
        }
    }
}

#[track_caller]
pub fn judge(cases: usize, least: usize, failures: &[String]) {
    let few = failures.get(..failures.len().min(4)).unwrap();
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        few.join("\n\n")
    );
    assert!(cases >= least, "{cases}");
}

#[test]
fn one_damage_to_a_file_whose_header_counts() {
    let (mut cases, mut failures) = (0, Vec::new());
    for (seed, model) in counted().into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        // The header; without it, positions are lost but not content.
        let header = model
            .others()
            .iter()
            .take_while(|part| part.start < 32)
            .map(|part| part.end)
            .max()
            .unwrap();
        for _ in 0..effort::cases(60, 4) {
            let damage = Damage::random(&model, &mut random);
            let mut damaged = model.clone();
            damage.apply(&mut damaged, &mut random);
            damaged.name = format!("{}: {damage:?}", model.name);
            // Without the header and the chunk around it, or without several chunks, nothing may be left that
            // distinguishes data from chunks.
            damaged.is_ambiguous = model.name.starts_with("file of files")
                && (damaged.damaged_chunks() > 1
                    || damaged.file().get(..header) != model.file().get(..header));
            cases += case(&mut failures, || {
                let Some(recovery) = damaged.check() else {
                    return false;
                };
                let is_head = damaged.file().get(..header) != model.file().get(..header);
                if model.checked
                    && damage.keeps_places(&damaged)
                    && !is_head
                    && !damaged.is_ambiguous
                {
                    assert_eq!(
                        reported(&recovery),
                        Some(damaged.lost()),
                        "{}: {recovery:#?}",
                        damaged.name
                    );
                    assert_eq!(
                        recovery.content_len(),
                        Some(model.contents.concat().len() as u64),
                        "{}",
                        damaged.name
                    );
                }
                true
            });
        }
    }
    judge(cases, effort::cases(1000, 4), &failures);
}

#[test]
fn one_damage_to_streams_and_concatenations() {
    let (mut cases, mut failures) = (0, Vec::new());
    for (seed, model) in others().into_iter().enumerate() {
        let mut random = Random::new(1000 + seed as u64);
        for _ in 0..effort::cases(100, 4) {
            let damage = Damage::random(&model, &mut random);
            let mut damaged = model.clone();
            damage.apply(&mut damaged, &mut random);
            damaged.name = format!("{}: {damage:?}", model.name);
            cases += case(&mut failures, || damaged.check().is_some());
        }
    }
    judge(cases, effort::cases(800, 4), &failures);
}

#[test]
fn two_damages() {
    let (mut cases, mut failures) = (0, Vec::new());
    for (seed, model) in counted().into_iter().chain(others()).enumerate() {
        let mut random = Random::new(2000 + seed as u64);
        for _ in 0..effort::cases(40, 4) {
            let mut damaged = model.clone();
            let mut name = model.name.clone();
            for _ in 0..2 {
                if damaged.chunks().is_empty() || damaged.others().is_empty() {
                    continue;
                }
                let damage = Damage::random(&damaged, &mut random);
                // A misplaced chunk and a misleading table can be distinguished only while the chunks around them are
                // whole.
                if damage.moves_last(&damaged) || matches!(damage, Damage::Swap(..)) {
                    continue;
                }
                damage.apply(&mut damaged, &mut random);
                name = format!("{name}: {damage:?}");
            }
            damaged.name = name;
            let is_head = damaged.file().get(..HEAD) != model.file().get(..HEAD);
            if is_head && !model.checked {
                // Nothing is left that distinguishes a chunk from its neighbours.
                continue;
            }
            // Both the table and the chunk around may be gone.
            damaged.is_ambiguous = model.name.starts_with("file of files");
            cases += case(&mut failures, || damaged.check().is_some());
        }
    }
    judge(cases, effort::cases(1000, 4), &failures);
}
