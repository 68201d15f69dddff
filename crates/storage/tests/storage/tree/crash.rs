//! Tests that a crash at any moment leaves all the old files or all the new ones, readable at once.
//!
//! The operations of a writer are recorded; then the power fails after each of them, and any part of
//! what was not synced yet may be on the disk. A normal run tries tens of thousands of such states,
//! `BLOSCPACK_CRASH_STATES=10000000` that many; `BLOSCPACK_CRASH_SEED` chooses other changes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use super::model::{self, Model, changes};
use bloscpack_storage::Access;
use bloscpack_storage::{JournaledStore, Key};
use testkit::crash::{Depth, for_each_state};
use testkit::golden::Random;
use testkit::recorder::{Disk, Found, Log, TreeRecorder};

/// States after each operation of a scenario, and of a recovery from one.
const DEPTH: Depth = Depth {
    exhaustive: 8,
    random: 12,
};
const AGAIN: Depth = Depth {
    exhaustive: 8,
    random: 2,
};
/// In one of this many states the recovery crashes, too.
const RECOVERED: usize = 17;

/// The log of a writer, the operations done after each commit, and the content then.
struct Run {
    log: Log,
    acked: Vec<usize>,
    contents: Vec<Found>,
}

fn open(store: &TreeRecorder, access: Access) -> JournaledStore {
    model::open(store.clone(), access).unwrap()
}

/// The content that is read through a store.
pub(crate) fn seen(root: &JournaledStore) -> Result<Found, String> {
    let (mut found, mut folders) = (Found::new(), vec![Key::root()]);
    while let Some(folder) = folders.pop() {
        for entry in root.list(&folder).map_err(|error| error.to_string())? {
            let key = folder.join(entry.name.to_str().unwrap()).unwrap();
            let bytes = match entry.kind {
                bloscpack_storage::EntryKind::Folder => None,
                _ => Some(root.get(&key, 1 << 20).map_err(|error| error.to_string())?),
            };
            if bytes.is_none() {
                folders.push(key.clone());
            }
            found.insert(key.to_string(), bytes);
        }
    }
    Ok(found)
}

/// Some commits, one after another, by one writer or several.
fn run(before: &Found, random: &mut Random) -> Run {
    let recorder = TreeRecorder::new(Disk::of(before));
    let mut model = Model::new(before.clone());
    let (mut acked, mut contents) = (Vec::new(), vec![before.clone()]);
    // Half of the writers keep no patches in memory, so that every patch of theirs is spilled.
    let patch_memory = [0, model::PATCH_MEMORY][random.below(2)];
    let write = || {
        let root = open(&recorder, Access::Write);
        root.set_patch_memory(patch_memory);
        root
    };
    let mut root = write();
    for _ in 0..1 + random.below(3) {
        for change in changes(&mut model, random) {
            change.make(&root).unwrap();
        }
        assert_eq!(seen(&root).unwrap(), model.found);
        match random.below(8) {
            0 => {
                root.rollback().unwrap();
                model = Model::new(contents.last().unwrap().clone());
            }
            _ => {
                root.commit().unwrap();
                acked.push(recorder.done());
                contents.push(model.found.clone());
            }
        }
        if random.below(4) == 0 {
            drop(root);
            root = write();
        }
    }
    drop(root);
    assert_eq!(recorder.disk().found(), *contents.last().unwrap());
    Run {
        log: recorder.log(),
        acked,
        contents,
    }
}

impl Run {
    /// The contents that a crash after `done` operations may leave.
    fn allowed(&self, done: usize) -> &[Found] {
        let promised = self.acked.iter().filter(|acked| **acked <= done).count();
        &self.contents[promised..self.contents.len().min(promised + 2)]
    }
}

/// Reads a state, recovers it, and changes it once more; returns its content, or what is wrong.
fn check(disk: &Disk, allowed: &[Found]) -> Result<Found, String> {
    let left = TreeRecorder::new(disk.clone());
    let read = model::open(left.clone(), Access::Read).map_err(|e| e.to_string())?;
    let found = seen(&read)?;
    drop(read);
    if left.done() > 0 {
        return Err("reading has changed something".to_owned());
    }
    if !allowed.contains(&found) {
        return Err(format!("neither the old nor the new: {:?}", short(&found)));
    }
    let root = model::open(left.clone(), Access::Write).map_err(|e| e.to_string())?;
    if seen(&root)? != found {
        return Err("recovery has changed what was read".to_owned());
    }
    // Two steps, so that there is another journal.
    for (number, change) in EXTRA.iter().enumerate() {
        let made = match change {
            Some(bytes) => root.put(&extra(number), bytes),
            None => root.make_folder(&extra(number)),
        };
        made.map_err(|error| error.to_string())?;
    }
    root.commit().map_err(|error| error.to_string())?;
    drop(root);
    let mut wanted = found.clone();
    for (number, change) in EXTRA.iter().enumerate() {
        wanted.insert(extra(number).to_string(), change.map(<[u8]>::to_vec));
    }
    if left.disk().found() != wanted {
        return Err(format!("left behind: {:?}", short(&left.disk().found())));
    }
    Ok(found)
}

/// The change after a recovery: a file and a folder.
const EXTRA: [Option<&[u8]>; 2] = [Some(b"more"), None];

fn extra(number: usize) -> Key {
    Key::parse(&format!("extra{number}")).unwrap()
}

fn short(found: &Found) -> Vec<(&String, Option<usize>)> {
    let len = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(Vec::len);
    found.iter().map(|(key, bytes)| (key, len(bytes))).collect()
}

fn fail(log: &Log, done: usize, disk: &Disk, why: &str) -> ! {
    let last = &log.ops[done.saturating_sub(8)..done];
    let found = disk.found();
    panic!(
        "{why}\nafter operation {done}, {last:#?}\nleft: {:?}",
        short(&found)
    );
}

/// Crashes some commits after each operation, and some of the recoveries; returns how many states
/// there were, and in how many the patches of an interrupted commit are spilled.
fn crash(before: &Found, random: &mut Random) -> (usize, usize) {
    let run = run(before, random);
    let (mut states, mut spilled, mut recover) = (0, 0, Vec::new());
    for_each_state(&run.log, &run.acked, DEPTH, random, |done, disk| {
        spilled += usize::from(is_spilled(disk));
        match check(disk, run.allowed(done)) {
            Ok(found) if states % RECOVERED == 0 => recover.push((disk.clone(), found)),
            Ok(_) => {}
            Err(why) => fail(&run.log, done, disk, &why),
        }
        states += 1;
    });
    for (disk, found) in recover {
        let recorder = TreeRecorder::new(disk);
        drop(open(&recorder, Access::Write));
        let log = recorder.log();
        for_each_state(&log, &[], AGAIN, random, |done, disk| {
            if let Err(why) = check(disk, std::slice::from_ref(&found)) {
                fail(&log, done, disk, &format!("while recovering: {why}"));
            }
            states += 1;
        });
    }
    (states, spilled)
}

/// Whether there is a journal whose patches are in a file of their own, which has a number.
fn is_spilled(disk: &Disk) -> bool {
    let found = disk.found();
    let journal = found.get(".blpk/journal").and_then(Option::as_deref);
    let number = journal.and_then(|journal| journal.get(44..52));
    number.is_some_and(|number| number != [0; 8])
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// The random numbers of one run. Journals have random salts, so the states of two runs of one seed differ in a few bytes; numbers of
/// their own keep that from changing what later runs do.
fn run_of(seed: u64, run: u64) -> Random {
    let mut random = Random::new(seed ^ run.wrapping_mul(0xD1B5_4A32_D192_ED03));
    random.below(2);
    random
}

#[test]
fn a_crash_leaves_the_old_or_the_new() {
    let seed = number("BLOSCPACK_CRASH_SEED").unwrap_or(1);
    let wanted =
        number("BLOSCPACK_CRASH_STATES").unwrap_or(testkit::effort::cases(40_000, 8) as u64);
    let (mut states, mut spilled, mut runs) = (0, 0, 0);
    while (states as u64) < wanted {
        let random = &mut run_of(seed, runs);
        let before = Model::at_random(random).found;
        let (more, more_spilled) = crash(&before, random);
        (states, spilled) = (states + more, spilled + more_spilled);
        runs += 1;
    }
    println!("{states} states of {runs} runs, {spilled} of them spilled, seed {seed}");
    assert!(runs > 10 && spilled > states / 40);
}

/// The process is killed in the middle, so that everything written stays although it is not synced;
/// another process continues from there; and then the power fails.
fn kill_and_crash(before: &Found, random: &mut Random) -> usize {
    let mut model = Model::new(before.clone());
    let changes = [(); 2].map(|()| {
        let changes = changes(&mut model, random);
        (changes, model.found.clone())
    });
    let work = |store: &TreeRecorder| -> bloscpack_storage::Result<()> {
        let root = model::open(store.clone(), Access::Write)?;
        for (changes, _) in &changes {
            for change in changes {
                change.make(&root)?;
            }
            root.commit()?;
        }
        Ok(())
    };
    let whole = TreeRecorder::new(Disk::of(before));
    work(&whole).unwrap();
    let mut states = 0;
    for _ in 0..4 {
        let recorder = TreeRecorder::new(Disk::of(before));
        let killed_at = random.below(whole.done());
        recorder.die_at(Some(killed_at));
        let _ = work(&recorder);
        recorder.die_at(None);
        let root = open(&recorder, Access::Write);
        let found = seen(&root).unwrap();
        // Opening it has decided which content it has.
        let recovered = recorder.done();
        root.put(&extra(0), b"more").unwrap();
        drop(root);
        let contents = [before, &changes[0].1, &changes[1].1].map(Found::clone);
        assert!(contents.contains(&found), "killed at {killed_at}");
        let log = recorder.log();
        for_each_state(&log, &[recovered], AGAIN, random, |done, disk| {
            let allowed = if done < recovered {
                &contents[..]
            } else {
                std::slice::from_ref(&found)
            };
            if let Err(why) = check(disk, allowed) {
                let why = format!("killed at {killed_at}, recovered at {recovered}: {why}");
                fail(&log, done, disk, &why);
            }
            states += 1;
        });
    }
    states
}

#[test]
fn a_killed_writer_and_then_a_power_cut_leave_the_old_or_the_new() {
    let seed = number("BLOSCPACK_CRASH_SEED").unwrap_or(1);
    let wanted =
        number("BLOSCPACK_CRASH_STATES").unwrap_or(testkit::effort::cases(20_000, 8) as u64);
    let (mut states, mut runs) = (0, 0);
    while (states as u64) < wanted {
        let random = &mut run_of(seed ^ 0x5a5a, runs);
        let before = Model::at_random(random).found;
        states += kill_and_crash(&before, random);
        runs += 1;
    }
    println!("{states} states of {runs} runs, seed {seed}");
    assert!(runs > 10);
}
