//! Tests that, after any failure in any operation, the file is the old one or the new one, the error has the category
//! of the environment, and there is no panic.
//!
//! The N-th operation fails for N = 0, 1, ... until none is left to fail: once, or from then on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::storage::{Memory, Snapshot, SourceReader};
use bloscpack::{Category, Error};
use std::cell::Cell;
use std::ffi::OsStr;
use std::io;

use testkit::check;
use testkit::crash;
use testkit::faulty;
use testkit::golden;
use testkit::recorder;
use testkit::scenario;

use check::{check, read};
use crash::{Depth, Files, for_each_files};
use faulty::{EIO, ENOSPC, Fault, Faulty, Plan};
use golden::Random;
use recorder::Recorder;
use scenario::{Content, NAME, Opened, Scenario, scenarios};

/// The result of a scenario in a folder with faults.
struct Outcome {
    /// Edits that were said to be made.
    made: usize,
    error: Option<Error>,
    editor: Option<Opened<Faulty>>,
}

fn outcome(scenario: &Scenario, folder: &Faulty) -> Outcome {
    let mut editor = None;
    for (made, edit) in scenario.edits.iter().enumerate() {
        if let Err(error) = scenario.apply(edit, &mut editor, || folder.clone()) {
            return Outcome {
                made,
                error: Some(error),
                editor,
            };
        }
    }
    Outcome {
        made: scenario.edits.len(),
        error: None,
        editor,
    }
}

pub(super) fn fresh(scenario: &Scenario) -> Memory {
    Memory::from([(NAME, scenario.file.clone())])
}

pub(super) fn left(memory: &Memory) -> Files {
    use bloscpack::storage::Folder;
    let names = memory.list().unwrap().into_iter();
    names
        .map(|name| (name.clone(), memory.bytes(&name).unwrap()))
        .collect()
}

/// The old content and the new one of the edit that was not made, if one was not.
fn old_or_new(contents: &[Content], made: usize) -> &[Content] {
    &contents[made..contents.len().min(made + 2)]
}

/// The same, or that of both of which the error assures.
fn assured<'a>(contents: &'a [Content], outcome: &Outcome) -> &'a [Content] {
    let made = outcome.made;
    match &outcome.error {
        Some(error) if error.category() == Category::Committed => &contents[made + 1..made + 2],
        Some(error) if is_full(error) => &contents[made..=made],
        _ => old_or_new(contents, made),
    }
}

/// Whether there was no space, before the change was committed.
fn is_full(error: &Error) -> bool {
    error.category() == Category::Failed
        && error
            .io_error()
            .is_some_and(|error| error.kind() == io::ErrorKind::StorageFull)
}

/// Lets each operation of a scenario fail, one after the other; `then` looks at what came of it.
fn at_each(
    scenario: &Scenario,
    (fault, lasting): (Fault, bool),
    then: impl Fn(&Faulty, Outcome) -> Result<(), String>,
) {
    let contents = scenario.contents();
    for first in testkit::effort::sample(0.., 11) {
        let plan = Plan {
            fault,
            first,
            lasting,
        };
        let memory = fresh(scenario);
        let folder = Faulty::new(memory.clone(), plan);
        // Every other time there is a reader, whose content stays.
        let reader =
            (first % 2 == 1).then(|| Snapshot::open_in(&memory, OsStr::new(NAME)).unwrap());
        let outcome = outcome(scenario, &folder);
        if let Some(reader) = reader {
            match read(SourceReader::new(reader)) {
                Ok(seen) => assert_eq!(seen, contents[0], "{}, {plan:?}", scenario.name),
                Err(error) => assert_eq!(error.category(), Category::Failed, "{plan:?}: {error}"),
            }
        }
        let (made, came) = (outcome.made, folder.faults() > 0);
        let fail = |why: String| -> ! { panic!("{}, {plan:?}: {why}", scenario.name) };
        then(&folder, outcome).unwrap_or_else(|why| fail(why));
        check(&left(&memory), scenario, old_or_new(&contents, made))
            .unwrap_or_else(|why| fail(why));
        if !came {
            assert_eq!(
                made,
                scenario.edits.len(),
                "{}: nothing failed",
                scenario.name
            );
            break;
        }
    }
}

fn is_failure(outcome: &Outcome) -> Result<(), String> {
    match &outcome.error {
        Some(error) if !matches!(error.category(), Category::Failed | Category::Committed) => {
            Err(format!("not an error of the environment: {error}"))
        }
        _ => Ok(()),
    }
}

#[test]
fn an_error_of_the_system_leaves_the_old_or_the_new() {
    let (committed, full) = (Cell::new(0), Cell::new(0));
    for scenario in scenarios() {
        let contents = scenario.contents();
        for fault in [
            Fault::Error(EIO),
            Fault::Error(ENOSPC),
            Fault::ErrorAfter(EIO),
            Fault::ErrorHalfway(ENOSPC),
        ] {
            for lasting in [false, true] {
                at_each(&scenario, (fault, lasting), |folder, mut outcome| {
                    if let Some(error) = &outcome.error {
                        let is_committed = error.category() == Category::Committed;
                        committed.set(committed.get() + usize::from(is_committed));
                        full.set(full.get() + usize::from(is_full(error)));
                    }
                    is_failure(&outcome)?;
                    drop(outcome.editor.take());
                    let expected = assured(&contents, &outcome);
                    check(&left(folder.memory()), &scenario, expected).map(drop)
                });
            }
        }
    }
    assert!(committed.get() > 50 && full.get() > 50);
}

#[test]
fn after_an_error_an_editor_refuses_or_goes_on_rightly() {
    for scenario in scenarios() {
        let contents = scenario.contents();
        for fault in [
            Fault::Error(EIO),
            Fault::ErrorAfter(EIO),
            Fault::ErrorHalfway(ENOSPC),
        ] {
            at_each(&scenario, (fault, false), |folder, mut outcome| {
                is_failure(&outcome)?;
                let (Some(_), Some(editor)) = (&outcome.error, &mut outcome.editor) else {
                    return Ok(());
                };
                // The same edit again: if it is said to be made, it was made once.
                match scenario.edits[outcome.made].apply(editor) {
                    Err(error) if error.category() == Category::Failed => return Ok(()),
                    Err(error) => return Err(format!("the second time: {error}")),
                    Ok(()) => {}
                }
                drop(outcome.editor.take());
                let made = std::slice::from_ref(&contents[outcome.made + 1]);
                check(&left(folder.memory()), &scenario, made).map(drop)
            });
        }
    }
}

#[test]
fn after_a_failed_sync_an_editor_refuses() {
    for scenario in scenarios() {
        for lasting in [false, true] {
            at_each(
                &scenario,
                (Fault::Sync(EIO), lasting),
                |folder, mut outcome| {
                    is_failure(&outcome)?;
                    let Some(editor) = &mut outcome.editor else {
                        return Ok(());
                    };
                    if folder.faults() == 0 {
                        return Ok(());
                    }
                    if outcome.error.is_none() {
                        return Err("a failed sync was passed over".to_owned());
                    }
                    for edit in &scenario.edits {
                        match edit.apply(editor) {
                            Err(error) if error.category() == Category::Failed => {}
                            done => return Err(format!("not refused but {done:?}")),
                        }
                    }
                    Ok(())
                },
            );
        }
    }
}

#[test]
fn signals_and_short_reads_and_writes_change_nothing() {
    for scenario in scenarios() {
        let runs = [
            (Fault::Interrupted, false),
            (Fault::Short, false),
            (Fault::Short, true),
        ];
        for run in runs {
            at_each(&scenario, run, |_, outcome| match outcome.error {
                Some(error) => Err(error.to_string()),
                None => Ok(()),
            });
        }
    }
}

#[test]
fn a_busy_file_is_waited_for_or_refused() {
    for scenario in scenarios() {
        for lasting in [false, true] {
            at_each(&scenario, (Fault::Busy, lasting), |_, outcome| {
                is_failure(&outcome)
            });
        }
    }
}

/// States in which a change has begun that has to be completed.
fn interrupted(scenario: &Scenario) -> Vec<Files> {
    let recorder = Recorder::new(&[(NAME.into(), scenario.file.clone())]);
    let mut editor = None;
    for edit in &scenario.edits {
        scenario
            .apply(edit, &mut editor, || recorder.clone())
            .unwrap();
    }
    let (depth, mut states) = (
        Depth {
            exhaustive: 0,
            random: 1,
        },
        Vec::new(),
    );
    for_each_files(
        &recorder.log(),
        &[],
        depth,
        &mut Random::new(5),
        |_, files| {
            let snapshot = Snapshot::open_in(&check::folder(files), OsStr::new(NAME));
            if snapshot.is_ok_and(|snapshot| snapshot.is_interrupted()) {
                states.push(files.clone());
            }
        },
    );
    states
}

#[test]
fn a_recovery_that_fails_can_be_done_again() {
    let faults = [
        (Fault::Error(EIO), false),
        (Fault::Error(ENOSPC), true),
        (Fault::ErrorAfter(EIO), false),
        (Fault::ErrorHalfway(ENOSPC), true),
        (Fault::Sync(EIO), false),
        (Fault::Interrupted, false),
        (Fault::Short, true),
    ];
    let mut interruptions = 0;
    for scenario in scenarios() {
        let contents = scenario.contents();
        for files in interrupted(&scenario) {
            interruptions += 1;
            let seen = check(&files, &scenario, &contents).unwrap();
            for (fault, lasting) in faults {
                recover_with(&scenario, &files, &seen, (fault, lasting));
                read_with(&scenario, &files, &seen, (fault, lasting));
            }
        }
    }
    assert!(interruptions > 50);
}

fn recover_with(scenario: &Scenario, files: &Files, seen: &Content, run: (Fault, bool)) {
    for first in testkit::effort::sample(0.., 11) {
        let plan = Plan {
            fault: run.0,
            first,
            lasting: run.1,
        };
        let memory = check::folder(files);
        let folder = Faulty::new(memory.clone(), plan);
        match scenario.open(folder.clone()) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.category(), Category::Failed, "{plan:?}: {error}"),
        }
        let left = check(&left(&memory), scenario, std::slice::from_ref(seen));
        left.unwrap_or_else(|why| panic!("{}, {plan:?}: {why}", scenario.name));
        if folder.faults() == 0 {
            break;
        }
    }
}

fn read_with(scenario: &Scenario, files: &Files, seen: &Content, run: (Fault, bool)) {
    let harmless = matches!(run.0, Fault::Interrupted | Fault::Short);
    for first in testkit::effort::sample(0.., 11) {
        let plan = Plan {
            fault: run.0,
            first,
            lasting: run.1,
        };
        let folder = Faulty::new(check::folder(files), plan);
        let snapshot = Snapshot::open_in(&folder, OsStr::new(NAME));
        match snapshot
            .map_err(Error::from)
            .and_then(|snapshot| read(SourceReader::new(snapshot)))
        {
            Ok(content) => assert_eq!(&content, seen, "{}, {plan:?}", scenario.name),
            Err(error) => {
                assert!(!harmless, "{}, {plan:?}: {error}", scenario.name);
                assert_eq!(error.category(), Category::Failed, "{plan:?}: {error}");
            }
        }
        if folder.faults() == 0 {
            break;
        }
    }
}
