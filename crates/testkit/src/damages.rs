//! The damages that a verification reports, as a list.

use bloscpack::Result;
use bloscpack::verify::{Damage, Report};

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
