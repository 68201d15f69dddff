//! Tests that a crash at any moment leaves the old file or the new one, readable at once, and nothing else.
//!
//! Records the operations of an editor; then the power fails after each operation, and any part of the unsynced data
//! may be on the disk (`crates/testkit/src/crash.rs`). A normal run tries some ten thousand of such states.
//! `BLOSCPACK_CRASH_STATES=10000000` continues with random scenarios until so many were tried; `BLOSCPACK_CRASH_SEED`
//! selects others.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::storage::{Access, Folder, Memory, Snapshot, SourceReader, WriteAt};
use bloscpack::{Category, Encoder};
use std::ffi::OsStr;
use std::io::{self, Seek, SeekFrom, Write};

use testkit::check;
use testkit::crash;
use testkit::golden;
use testkit::recorder;
use testkit::scenario;

use check::check;
use crash::{Depth, Files, for_each_files};
use golden::Random;
use recorder::{Log, RecordedFile, Recorder};
use scenario::{Content, JOURNAL, NAME, Scenario, scenarios, twins};

/// States after each operation of a scenario, and of a recovery from one.
const DEPTH: Depth = Depth {
    exhaustive: 10,
    random: 24,
};
const AGAIN: Depth = Depth {
    exhaustive: 10,
    random: 3,
};
/// From one in so many states the recovery crashes, too.
const RECOVERED: usize = 19;

/// The work of an editor: the log, and its length after each edit.
struct Run {
    log: Log,
    acked: Vec<usize>,
    contents: Vec<Content>,
}

/// Runs an editor until its work is done, or not possible with this file; perhaps beside a reader of the old content.
fn run(scenario: &Scenario, has_reader: bool) -> Run {
    let recorder = Recorder::new(&[(NAME.into(), scenario.file.clone())]);
    let old = has_reader.then(|| Snapshot::open_in(&recorder, OsStr::new(NAME)).unwrap());
    let (mut acked, mut contents) = (Vec::new(), vec![scenario.before.clone()]);
    let mut editor = None;
    for edit in &scenario.edits {
        match scenario.apply(edit, &mut editor, || recorder.clone()) {
            Ok(()) => {}
            Err(error) if error.category() == Category::Usage => continue,
            Err(error) => panic!("{}, {edit:?}: {error}", scenario.name),
        }
        acked.push(recorder.done());
        contents.push(edit.model(&contents[contents.len() - 1]));
        // The writer is still there, but does not interfere.
        let beside = Snapshot::open_in(&recorder, OsStr::new(NAME)).unwrap();
        let seen = check::read(SourceReader::new(beside)).unwrap();
        assert_eq!(seen, contents[contents.len() - 1], "{}", scenario.name);
        if let Some(old) = &old {
            let seen = check::read(SourceReader::new(old)).unwrap();
            assert_eq!(seen, scenario.before, "{}: an old reader", scenario.name);
        }
    }
    drop(editor);
    Run {
        log: recorder.log(),
        acked,
        contents,
    }
}

impl Run {
    /// The contents that may be found if the crash happens after so many operations.
    fn allowed(&self, done: usize) -> &[Content] {
        let promised = self.acked.iter().filter(|acked| **acked <= done).count();
        &self.contents[promised..self.contents.len().min(promised + 2)]
    }
}

/// Fails with all that is needed to find out why.
fn fail(scenario: &Scenario, log: &Log, done: usize, files: &Files, why: &str) -> ! {
    let last = &log.ops[done.saturating_sub(12)..done];
    let sizes: Vec<_> = files
        .iter()
        .map(|(name, bytes)| (name, bytes.len()))
        .collect();
    panic!(
        "{}\n{why}\nafter operation {done}, {last:#?}\nleft: {sizes:?}",
        scenario.name
    );
}

/// Crashes a scenario everywhere, and some of the recoveries; returns how many states there were.
fn crash(scenario: &Scenario, random: &mut Random, has_reader: bool) -> usize {
    let run = run(scenario, has_reader);
    let (mut states, mut recover) = (0, Vec::new());
    for_each_files(&run.log, &run.acked, DEPTH, random, |done, files| {
        match check(files, scenario, run.allowed(done)) {
            Ok(seen) if states % RECOVERED == 0 => recover.push((files.clone(), seen)),
            Ok(_) => {}
            Err(why) => fail(scenario, &run.log, done, files, &why),
        }
        states += 1;
    });
    for (files, seen) in recover {
        states += crash_again(scenario, &files, &seen, random);
    }
    states
}

/// Crashes the recovery from a crash: it is decided which content there is.
fn crash_again(scenario: &Scenario, files: &Files, seen: &Content, random: &mut Random) -> usize {
    let recorder = Recorder::new(files);
    drop(scenario.open(recorder.clone()).unwrap());
    let (log, mut states) = (recorder.log(), 0);
    for_each_files(&log, &[], AGAIN, random, |done, files| {
        if let Err(why) = check(files, scenario, std::slice::from_ref(seen)) {
            fail(
                scenario,
                &log,
                done,
                files,
                &format!("while recovering: {why}"),
            );
        }
        states += 1;
    });
    states
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn a_crash_leaves_the_old_or_the_new() {
    let seed = number("BLOSCPACK_CRASH_SEED").unwrap_or(1);
    let wanted =
        number("BLOSCPACK_CRASH_STATES").unwrap_or(testkit::effort::cases(60_000, 10) as u64);
    let random = &mut Random::new(seed);
    let (mut states, mut done) = (0, 0);
    for scenario in scenarios() {
        states += crash(&scenario, random, done % 2 == 1);
        done += 1;
    }
    println!("{states} states of {done} scenarios");
    while (states as u64) < wanted {
        states += crash(&scenario::at_random(random), random, done % 2 == 1);
        done += 1;
    }
    println!("{states} states of {done} scenarios, seed {seed}");
    assert!(states >= testkit::effort::cases(50_000, 10));
}

/// Files as `check` gets them, in a state in which a change has to be completed.
fn interrupted(scenario: &Scenario) -> Vec<Files> {
    let (run, mut states) = (run(scenario, false), Vec::new());
    let depth = Depth {
        exhaustive: 0,
        random: 2,
    };
    for_each_files(
        &run.log,
        &run.acked,
        depth,
        &mut Random::new(3),
        |_, files| {
            let snapshot = Snapshot::open_in(&check::folder(files), OsStr::new(NAME));
            if snapshot.is_ok_and(|snapshot| snapshot.is_interrupted()) {
                states.push(files.clone());
            }
        },
    );
    states
}

fn bytes(files: &Files, name: &str) -> Vec<u8> {
    files
        .iter()
        .find(|(there, _)| there == name)
        .unwrap()
        .1
        .clone()
}

/// The file of one crash beside the journal of another, as careless copying may combine them. Only copies of the same
/// file cannot be distinguished: `docs/crash-safety.md`.
#[test]
fn a_journal_of_another_file_is_not_obeyed() {
    let (mut all, mut pairs) = (Vec::new(), 0);
    for scenario in scenarios().into_iter().chain(twins()) {
        for files in interrupted(&scenario) {
            all.push((files, scenario.clone()));
        }
    }
    for (files, scenario) in &all {
        for (others, other) in &all {
            if scenario.file[..32] == other.file[..32] && scenario.before == other.before {
                continue;
            }
            pairs += 1;
            let folder = Memory::from([
                (NAME, bytes(files, NAME)),
                (JOURNAL, bytes(others, JOURNAL)),
            ]);
            let name = format!("{}, with the journal of {}", scenario.name, other.name);
            let read = Snapshot::open_in(&folder, OsStr::new(NAME)).unwrap_err();
            let written = scenario.open(folder.clone()).unwrap_err();
            for error in [read.into(), written] {
                assert_eq!(error.category(), Category::CutShort, "{name}: {error}");
            }
            // Nothing was touched, so that the right files can still be combined.
            assert_eq!(folder.bytes(NAME), Some(bytes(files, NAME)), "{name}");
            assert_eq!(
                folder.bytes(JOURNAL),
                Some(bytes(others, JOURNAL)),
                "{name}"
            );
        }
    }
    assert!(pairs > 1000);
}

/// A file with the journal's name that is not a journal belongs to another program.
#[test]
fn a_file_in_the_journals_place_stays() {
    let scenario = &scenarios()[0];
    for foreign in [
        &b"my notes"[..],
        &[0x42; 100],
        b"blpkjrnx and so on, as long as a head of one",
    ] {
        let folder = Memory::from([(NAME, scenario.file.clone()), (JOURNAL, foreign.to_vec())]);
        let error = scenario.open(folder.clone()).unwrap_err();
        assert_eq!(error.category(), Category::Failed, "{error}");
        assert_eq!(folder.bytes(JOURNAL).as_deref(), Some(foreign));
        assert_eq!(folder.bytes(NAME), Some(scenario.file.clone()));
    }
}

/// Whether a crash while `act` replaces the old bytes leaves something that is neither old nor
/// new.
fn leaves_damage(act: impl Fn(&Recorder)) -> bool {
    let recorder = Recorder::new(&[(NAME.into(), OLD.to_vec())]);
    act(&recorder);
    let (depth, mut damaged) = (
        Depth {
            exhaustive: 10,
            random: 8,
        },
        false,
    );
    for_each_files(
        &recorder.log(),
        &[],
        depth,
        &mut Random::new(1),
        |_, files| {
            let found = files.iter().find(|(name, _)| name == NAME);
            damaged |= !found.is_some_and(|(_, bytes)| *bytes == OLD || *bytes == NEW);
        },
    );
    damaged
}

const OLD: [u8; 3000] = [1; 3000];
const NEW: [u8; 2000] = [2; 2000];

/// The usual way to write a file is found to be safe, and bugs in other ways are found.
#[test]
fn what_these_tests_look_for_they_find() {
    let (name, new) = (OsStr::new(NAME), OsStr::new("new"));
    let create = |folder: &Recorder, sync: bool| {
        let file = folder.create(new, None).unwrap();
        file.write_all_at(0, &NEW).unwrap();
        if sync {
            file.sync().unwrap();
        }
        folder.replace(new, name).unwrap();
        folder.sync().unwrap();
    };
    assert!(!leaves_damage(|folder| create(folder, true)));
    assert!(leaves_damage(|folder| create(folder, false)));
    let open = |folder: &Recorder| folder.open(name, Access::Write).unwrap();
    assert!(leaves_damage(|folder| {
        open(folder).write_all_at(0, &NEW).unwrap();
        open(folder).set_len(2000).unwrap();
    }));
    assert!(leaves_damage(|folder| {
        folder.remove(name).unwrap();
        create(folder, true);
    }));
}

/// A file that is written again gets its name when it is complete.
#[test]
fn a_new_file_is_whole_or_not_there() {
    let (scenario, data) = (&scenarios()[0], golden::sensor(900, 4));
    let recorder = Recorder::new(&[]);
    let file = recorder.create(OsStr::new("new"), None).unwrap();
    let target = Target { file: &file, at: 0 };
    let builder = Encoder::builder().chunk_size(200).size(data.len() as u64);
    let mut encoder = builder.write_to_seek(target).unwrap();
    encoder.write_all(&data).unwrap();
    encoder.finish().unwrap();
    file.sync().unwrap();
    recorder
        .replace(OsStr::new("new"), OsStr::new(NAME))
        .unwrap();
    let replaced = recorder.done();
    recorder.sync().unwrap();
    let wanted = [Content {
        data,
        metadata: None,
        records: None,
    }];
    let random = &mut Random::new(2);
    for_each_files(&recorder.log(), &[], DEPTH, random, |done, files| {
        let files: Files = files
            .iter()
            .filter(|(name, _)| name != "new")
            .cloned()
            .collect();
        let there = done > replaced || !files.is_empty();
        if there && let Err(why) = check(&files, scenario, &wanted) {
            fail(scenario, &recorder.log(), done, &files, &why);
        }
    });
}

/// A file as a target that can seek.
struct Target<'a> {
    file: &'a RecordedFile,
    at: u64,
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write_at(self.at, bytes)?;
        self.at += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Target<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(at) = to else {
            return Ok(self.at);
        };
        self.at = at;
        Ok(at)
    }
}
