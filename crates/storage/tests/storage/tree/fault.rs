//! Tests that an error in any operation leaves the old files or the new ones, and is reported.
//!
//! The N-th operation fails, for N = 0, 1, ... as long as there is one: once, or from then on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::crash::seen;
use super::model::{Change, Model, changes, open, open_with};
use bloscpack_storage::Access;
use bloscpack_storage::{Error, JournaledStore, Key};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use testkit::crash::{Depth, for_each_state};
use testkit::faulty::{ENOSPC, Fault, FaultyStore, Plan};
use testkit::golden::Random;
use testkit::recorder::{Disk, Found, TreeRecorder};

/// Commits, each with the content after it.
struct Scenario {
    before: Found,
    commits: Vec<(Vec<Change>, Found)>,
}

impl Scenario {
    fn at_random(random: &mut Random) -> Self {
        let before = Model::at_random(random).found;
        let mut model = Model::new(before.clone());
        let mut commits = Vec::new();
        while commits.len() < 2 {
            let changes = changes(&mut model, random);
            if !changes.is_empty() {
                commits.push((changes, model.found.clone()));
            }
        }
        Self { before, commits }
    }

    /// The content after this many commits.
    fn found(&self, commits: usize) -> &Found {
        match commits.checked_sub(1) {
            Some(last) => &self.commits[last].1,
            None => &self.before,
        }
    }
}

/// How far a writer has come.
struct Outcome {
    made: usize,
    /// Whether it was the commit that failed.
    committing: bool,
    failed: bool,
    /// The error of the commit.
    error: Option<Error>,
    root: Option<JournaledStore>,
}

fn work(scenario: &Scenario, store: &FaultyStore) -> Outcome {
    let root = match open_with(store.clone(), Access::Write, Duration::ZERO) {
        Ok(root) => root,
        Err(_) => {
            return Outcome {
                made: 0,
                committing: false,
                failed: true,
                error: None,
                root: None,
            };
        }
    };
    for (made, (changes, _)) in scenario.commits.iter().enumerate() {
        let changed = changes.iter().try_for_each(|change| change.make(&root));
        let committing = changed.is_ok();
        let error = match changed {
            Ok(()) => root.commit().err(),
            Err(_) => None,
        };
        if !committing || error.is_some() {
            return Outcome {
                made,
                committing,
                failed: true,
                error,
                root: Some(root),
            };
        }
    }
    Outcome {
        made: scenario.commits.len(),
        committing: false,
        failed: false,
        error: None,
        root: Some(root),
    }
}

/// Opens the store for reading and for writing, and returns its content.
fn left(recorder: &TreeRecorder) -> Result<Found, String> {
    let open = |access| open(recorder.clone(), access).map_err(|error| error.to_string());
    let found = seen(&open(Access::Read)?)?;
    let root = open(Access::Write)?;
    if seen(&root)? != found {
        return Err("recovery has changed what was read".to_owned());
    }
    drop(root);
    if recorder.disk().found() == found {
        Ok(found)
    } else {
        Err("something was left behind".to_owned())
    }
}

/// A commit that failed is tried again, unless everything is refused.
fn check_again(
    scenario: &Scenario,
    recorder: &TreeRecorder,
    outcome: Outcome,
) -> Result<(), String> {
    let made = outcome.made;
    let root = outcome.root.unwrap();
    if root.kind(&Key::root()).is_err() {
        return match root.commit() {
            Ok(()) => Err("refused, and then committed".to_owned()),
            Err(_) => Ok(()),
        };
    }
    root.commit().map_err(|error| error.to_string())?;
    drop(root);
    if left(recorder)? == *scenario.found(made + 1) {
        Ok(())
    } else {
        Err("tried again, and not the new".to_owned())
    }
}

fn check(scenario: &Scenario, recorder: &TreeRecorder, outcome: Outcome) -> Result<(), String> {
    let Outcome {
        made,
        committing,
        failed,
        error,
        root,
    } = outcome;
    let last = made + usize::from(committing);
    let allowed = match error {
        Some(Error::Committed(_)) => [scenario.found(last); 2],
        Some(Error::Io(error)) if error.kind() == io::ErrorKind::StorageFull => {
            [scenario.found(made); 2]
        }
        _ => [scenario.found(made), scenario.found(last)],
    };
    if let Some(root) = root.filter(|_| failed) {
        // It continues correctly, or refuses everything.
        let refuses = root.kind(&Key::root()).is_err();
        let went_on = root.rollback().is_ok() && go_on(&root, scenario.found(made))?;
        if went_on == refuses {
            return Err("it refuses some things and not others".to_owned());
        }
        drop(root);
        if went_on {
            let mut wanted = scenario.found(made).clone();
            wanted.extend(extra());
            return if left(recorder)? == wanted {
                Ok(())
            } else {
                Err("went on wrongly".to_owned())
            };
        }
    }
    if allowed.contains(&&left(recorder)?) {
        Ok(())
    } else {
        Err("neither the old nor the new".to_owned())
    }
}

fn extra() -> Found {
    Found::from([
        ("more".to_owned(), Some(b"more".to_vec())),
        ("folder".to_owned(), None),
    ])
}

/// Changes something else; an error if that fails.
fn go_on(root: &JournaledStore, now: &Found) -> Result<bool, String> {
    if seen(root)? != *now {
        return Err("rolled back, and still changed".to_owned());
    }
    let key = |name| Key::parse(name).unwrap();
    let made = root.put(&key("more"), b"more").is_ok()
        && root.make_folder(&key("folder")).is_ok()
        && root.commit().is_ok();
    if made {
        Ok(true)
    } else {
        Err("it went on, and failed where nothing does".to_owned())
    }
}

fn at_each(scenario: &Scenario, fault: Fault, lasting: bool) -> usize {
    let mut first = 0;
    loop {
        let plan = Plan {
            fault,
            first,
            lasting,
        };
        let recorder = TreeRecorder::new(Disk::of(&scenario.before));
        let store = FaultyStore::new(Arc::new(recorder.clone()), plan);
        let mut outcome = work(scenario, &store);
        let came = store.faults() > 0;
        // A store that keeps failing cannot continue.
        if lasting {
            outcome.root = None;
        }
        if !came {
            assert!(!outcome.failed, "{plan:?}: nothing failed");
        }
        let again = outcome.committing && outcome.root.is_some() && first % 2 == 0;
        let checked = if again {
            check_again(scenario, &recorder, outcome)
        } else {
            check(scenario, &recorder, outcome)
        };
        if let Err(why) = checked {
            let changes: Vec<_> = scenario.commits.iter().map(|(all, _)| all.len()).collect();
            panic!("{plan:?}: {why}; {changes:?} changes");
        }
        if !came {
            return first;
        }
        first += 1;
    }
}

#[test]
fn whatever_fails_leaves_the_old_or_the_new() {
    let random = &mut Random::new(4);
    let mut faults = 0;
    for _ in 0..testkit::effort::cases(25, 5) {
        let scenario = Scenario::at_random(random);
        for fault in [
            Fault::Error(ENOSPC),
            Fault::ErrorAfter(ENOSPC),
            Fault::ErrorHalfway(ENOSPC),
            Fault::Sync(ENOSPC),
            Fault::Busy,
        ] {
            for lasting in [false, true] {
                faults += at_each(&scenario, fault, lasting);
            }
        }
    }
    println!("{faults} faults");
    assert!(faults > testkit::effort::cases(5000, 10));
}

/// After a failed sync the state on the disk is unknown; then the power fails.
#[test]
fn a_power_cut_after_a_fault_leaves_the_old_or_the_new() {
    let random = &mut Random::new(5);
    let depth = Depth {
        exhaustive: 0,
        random: 2,
    };
    let mut states = 0;
    for _ in 0..12 {
        let scenario = Scenario::at_random(random);
        for fault in [
            Fault::Error(ENOSPC),
            Fault::ErrorAfter(ENOSPC),
            Fault::Sync(ENOSPC),
        ] {
            for first in 0.. {
                let plan = Plan {
                    fault,
                    first,
                    lasting: false,
                };
                let recorder = TreeRecorder::new(Disk::of(&scenario.before));
                let store = FaultyStore::new(Arc::new(recorder.clone()), plan);
                let outcome = work(&scenario, &store);
                if store.faults() == 0 {
                    break;
                }
                let (made, done) = (outcome.made, recorder.done());
                let last = made + usize::from(outcome.committing);
                let allowed = [scenario.found(made), scenario.found(last)];
                drop(outcome);
                let log = recorder.log();
                for_each_state(&log, &[], depth, random, |at, disk| {
                    if at < done {
                        return;
                    }
                    let found = left(&TreeRecorder::new(disk.clone()));
                    let found = found.unwrap_or_else(|why| panic!("{plan:?}, {at}: {why}"));
                    assert!(allowed.contains(&&found), "{plan:?} at {at} of {done}");
                    states += 1;
                });
            }
        }
    }
    println!("{states} states");
    assert!(states > testkit::effort::cases(1000, 4));
}

/// Readers that stay do not damage staged files.
#[test]
fn a_commit_that_readers_keep_waiting_can_be_tried_again() {
    let random = &mut Random::new(6);
    for _ in 0..50 {
        let scenario = Scenario::at_random(random);
        let recorder = TreeRecorder::new(Disk::of(&scenario.before));
        let open = |access| open_with(recorder.clone(), access, Duration::ZERO).unwrap();
        let root = open(Access::Write);
        for (changes, found) in &scenario.commits {
            let reader = open(Access::Read);
            let before = seen(&reader).unwrap();
            changes
                .iter()
                .for_each(|change| change.make(&root).unwrap());
            if before != *found {
                let error = root.commit().unwrap_err().to_string();
                assert!(error.contains("reading"), "{error}");
            }
            assert_eq!(seen(&reader).unwrap(), before);
            assert_eq!(seen(&root).unwrap(), *found);
            drop(reader);
            root.commit().unwrap();
            assert_eq!(seen(&open(Access::Read)).unwrap(), *found);
        }
        drop(root);
        assert_eq!(recorder.disk().found(), scenario.commits[1].1);
    }
}
