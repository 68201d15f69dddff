//! [`Stop`]: the damage at which sequential reading ended, to be merged with the damages that a scan finds.

use super::{Take, place};
use crate::damages::Damage;
use bloscpack_error::{Error, Result};
use bloscpack_wire::{FormatError, Section};
use std::ops::Range;

/// The damage to the structure at which sequential reading ended. A scan finds the same damage, a part of it, or none at this
/// place; then this one is inserted.
pub(super) struct Stop {
    /// `None` once it was passed on.
    pub(super) damage: Option<Damage>,
    at: u64,
    entry: Option<(u64, u64)>,
    /// The place of the last damage before it, if it ends here.
    before: Option<Range<u64>>,
    /// The damaged length of the chunk before has led here: nothing is wrong at this place.
    is_led_astray: bool,
    /// A damage of the scan includes this place.
    is_part: bool,
    /// The index of the first damage of the scan that is the same.
    same: Option<u64>,
    /// Number of damages of the scan before this place.
    index: u64,
    seen: u64,
    passed: u64,
    /// Number of damages of the scan in chunks.
    pub(super) damaged: u64,
}

impl Stop {
    pub(super) fn new(damage: Damage, before: Option<Range<u64>>) -> Self {
        let at = damage.error.position().map_or(0, |position| position.byte);
        Self {
            at,
            entry: entry_of(&damage.error),
            before: before.filter(|before| before.end == at),
            damage: Some(damage),
            is_led_astray: false,
            is_part: false,
            same: None,
            index: 0,
            seen: 0,
            passed: 0,
            damaged: 0,
        }
    }

    /// Compares it with the next damage of the scan.
    pub(super) fn look(&mut self, damage: &Damage) {
        let (index, place) = (self.seen, place(damage));
        self.seen += 1;
        let position = damage.error.position();
        let in_chunk = position.is_some_and(|place| place.section == Section::Chunk);
        self.damaged += u64::from(in_chunk && !place.is_empty());
        let is_other_end =
            |before: &Range<u64>| place.start == before.start && place.end != before.end;
        self.is_led_astray |= self.before.as_ref().is_some_and(is_other_end);
        let is_entry = self.entry.is_some() && entry_of(&damage.error) == self.entry;
        if is_entry || place.start == self.at {
            self.same.get_or_insert(index);
        }
        self.is_part |= (place.start..=place.end).contains(&self.at);
        if place.start < self.at {
            self.index = self.seen;
        }
    }

    /// Passes on the next damage of the scan, after all were looked at, and this one at its place. If both are the same, the
    /// scan knows better where the damage ends, but this one has the better error.
    pub(super) fn pass(&mut self, mut damage: Damage, take: Take<'_>) -> Result<()> {
        if self.is_led_astray {
            return take(damage);
        }
        if self.passed == self.same.unwrap_or(self.index) {
            match self.same {
                Some(_) => {
                    if let Some(stop) = self.damage.take() {
                        damage.error = stop.error;
                    }
                }
                None => self.put(take)?,
            }
        }
        self.passed += 1;
        take(damage)
    }

    /// Passes it on, unless a damage of the scan reports it.
    pub(super) fn put(&mut self, take: Take<'_>) -> Result<()> {
        let is_told = self.is_led_astray || self.is_part || self.same.is_some();
        let stop = self.damage.take().filter(|_| !is_told);
        stop.map_or(Ok(()), take)
    }
}

/// Member and number of the wrong entry of an offset table, if this is the error.
fn entry_of(error: &Error) -> Option<(u64, u64)> {
    let Some(FormatError::Offset { entry, .. }) = error.format_error() else {
        return None;
    };
    Some((error.position()?.member, *entry))
}
