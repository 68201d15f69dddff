//! Verification and recovery with damages and losses as lists.

use bloscpack::recover::{self, Finding, Lost, Recovery};
use bloscpack::storage::ReadAt;
use bloscpack::verify::{Damage, Report};
use bloscpack::{Options, Result};
use std::io::{Read, Seek, Write};
use std::ops::Deref;

/// Takes each damage.
pub type Take<'a> = &'a mut dyn FnMut(Damage) -> Result<()>;

/// The report of a verification, and all damages that it passes on.
pub fn damages(verify: impl FnOnce(Take<'_>) -> Result<Report>) -> Result<(Report, Vec<Damage>)> {
    let mut damages = Vec::new();
    let report = verify(&mut |damage| {
        damages.push(damage);
        Ok(())
    })?;
    assert_eq!(report.damage_count, damages.len() as u64);
    Ok((report, damages))
}

/// The report of a recovery, with all that it passes on.
#[derive(Debug)]
pub struct Recovered {
    pub recovery: Recovery,
    pub damages: Vec<Damage>,
    pub lost: Vec<Lost>,
}

impl Deref for Recovered {
    type Target = Recovery;

    fn deref(&self) -> &Recovery {
        &self.recovery
    }
}

/// Recovers a source into a target.
pub fn recover<S, W>(source: &S, target: W, options: &Options) -> Result<Recovered>
where
    S: ReadAt + ?Sized,
    W: Read + Write + Seek,
{
    let (mut damages, mut lost) = (Vec::new(), Vec::new());
    let recovery = recover::recover(source, target, options, |found| {
        match found {
            Finding::Damage(damage) => damages.push(damage),
            Finding::Lost(part) => lost.push(part),
            _ => {}
        }
        Ok(())
    })?;
    assert_eq!(
        (recovery.damage_count, recovery.lost_count),
        (damages.len() as u64, lost.len() as u64)
    );
    Ok(Recovered {
        recovery,
        damages,
        lost,
    })
}
