//! Hostile directories, made from sound datasets: names that point outside, links, pipes, wrong numbers.
//!
//! They are built by hand, without the crate. Files beside each dataset must be neither read nor changed;
//! [`Canary::check`] reports whether they were.
//!
//! ```text
//! for case in hostile_dirs::cases() {
//!     let temp = tempfile::tempdir()?;
//!     let built = case.build(temp.path());
//!     let root = built.root.clone();
//!     let found = hostile_dirs::hurried(&case.name, move || all_of(&root));
//!     case.expected.judge(&case.name, found);
//!     built.canary.check();
//! }
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use crate::stopwatch::HANG;
use std::path::{Path, PathBuf};

mod canary;
mod links;
mod names;
mod place;
mod sizes;
mod sound;
mod storage;
mod superchunks;

pub use canary::Canary;
pub use place::Place;
pub use sound::{Leaves, Sound};

/// One hostile directory.
pub struct Case {
    /// Different from all others.
    pub name: String,
    /// The dataset before the harm.
    pub sound: Sound,
    pub expected: Expected,
    harm: Box<dyn Fn(&Place) + Send + Sync>,
}

/// The expected result of opening the dataset and reading all of it, its attributes included.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// An error, from the one or the other.
    Refused,
    /// These leaves, as if nothing were wrong with it.
    Reads(Leaves),
    /// An error, or these leaves, and never others.
    RefusedOrReads(Leaves),
}

/// A directory that was made.
pub struct Built {
    /// The root of the dataset; open this.
    pub root: PathBuf,
    /// All around it.
    pub canary: Canary,
}

/// Cases of each kind, in a normal run one in so many.
pub fn some(one_in: usize) -> Vec<Case> {
    crate::effort::sample(cases(), one_in).collect()
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let cases = [
        names::cases(),
        links::cases(),
        sizes::cases(),
        storage::cases(),
        superchunks::cases(),
    ];
    cases.into_iter().flatten().collect()
}

impl Case {
    /// Makes it in an empty folder, which must outlive it.
    pub fn build(&self, temp: &Path) -> Built {
        let place = Place::new(temp);
        self.sound.write(&place.root);
        (self.harm)(&place);
        let canary = Canary::around(temp, &place.root);
        let root = place.root;
        Built { root, canary }
    }
}

impl Expected {
    /// Panics if the result is different.
    pub fn judge<E: std::fmt::Display>(&self, name: &str, found: Result<Leaves, E>) {
        match (self, found) {
            (Self::Refused | Self::RefusedOrReads(_), Err(_)) => {}
            (Self::Reads(leaves) | Self::RefusedOrReads(leaves), Ok(found)) => {
                assert_eq!(found, *leaves, "{name}: read otherwise");
            }
            (Self::Refused, Ok(found)) => panic!("{name}: read as {found:?}"),
            (Self::Reads(_), Err(error)) => panic!("{name}: refused: {error}"),
        }
    }
}

/// Runs what must not hang, on the small stack of a thread.
pub fn hurried<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || done.send(work()));
    match result.recv_timeout(HANG) {
        Ok(result) => result,
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("{name}: hangs"),
        Err(_) => std::panic::resume_unwind(thread.join().map(|_| ()).unwrap_err()),
    }
}

fn case(
    name: impl Into<String>,
    sound: Sound,
    expected: Expected,
    harm: impl Fn(&Place) + Send + Sync + 'static,
) -> Case {
    let (name, harm) = (name.into(), Box::new(harm));
    Case {
        name,
        sound,
        expected,
        harm,
    }
}

fn refused(
    name: impl Into<String>,
    sound: Sound,
    harm: impl Fn(&Place) + Send + Sync + 'static,
) -> Case {
    case(name, sound, Expected::Refused, harm)
}

/// It reads as if it were sound.
fn harmless(
    name: impl Into<String>,
    sound: Sound,
    harm: impl Fn(&Place) + Send + Sync + 'static,
) -> Case {
    case(name, sound, Expected::Reads(sound.leaves()), harm)
}

/// It is refused or reads as if it were sound.
fn doubtful(
    name: impl Into<String>,
    sound: Sound,
    harm: impl Fn(&Place) + Send + Sync + 'static,
) -> Case {
    case(name, sound, Expected::RefusedOrReads(sound.leaves()), harm)
}
