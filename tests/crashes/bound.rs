//! Tests that editors work where locks bind every handle, as on Windows.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::storage::{Snapshot, SourceReader};
use bloscpack::{Category, Error, Options};
use std::ffi::OsStr;
use std::sync::Mutex;
use std::time::Duration;

use crate::faults::{fresh, left};
use testkit::bound::Bound;
use testkit::check::{check, read};
use testkit::scenario::{NAME, Opened, Scenario, scenarios};

/// Makes the edits of a scenario, up to the first error.
fn edit(scenario: &Scenario, folder: &Bound) -> (usize, Result<(), Error>) {
    let mut editor = None;
    let mut made = 0;
    for edit in &scenario.edits {
        match scenario.apply(edit, &mut editor, || folder.clone()) {
            Ok(()) => made += 1,
            Err(error) => return (made, Err(error)),
        }
    }
    (made, Ok(()))
}

fn reader(folder: &Bound) -> Snapshot<testkit::bound::BoundFile> {
    Snapshot::open_in(folder, OsStr::new(NAME)).unwrap()
}

#[test]
fn a_writer_is_not_in_its_own_way() {
    for scenario in scenarios() {
        let memory = fresh(&scenario);
        let (_, done) = edit(&scenario, &Bound::new(memory.clone()));
        done.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        let contents = scenario.contents();
        check(&left(&memory), &scenario, &contents[contents.len() - 1..])
            .unwrap_or_else(|why| panic!("{}: {why}", scenario.name));
    }
}

#[test]
fn a_reader_that_stays_keeps_the_old_content_and_the_writer_reports_that_the_file_is_busy() {
    for scenario in scenarios() {
        let memory = fresh(&scenario);
        let folder = Bound::new(memory.clone());
        let (contents, reader) = (scenario.contents(), reader(&folder));
        let (made, done) = edit(&scenario, &folder);
        if let Err(error) = &done {
            assert_eq!(error.category(), Category::Failed, "{error}");
            let text = error.to_string();
            assert!(
                text.contains("reading this file"),
                "{}: {text}",
                scenario.name
            );
        }
        assert_eq!(
            read(SourceReader::new(&reader)).unwrap(),
            contents[0],
            "{}",
            scenario.name
        );
        drop(reader);
        check(&left(&memory), &scenario, &contents[made..=made])
            .unwrap_or_else(|why| panic!("{}: {why}", scenario.name));
    }
}

#[test]
fn a_writer_waits_for_a_reader_that_goes() {
    for scenario in scenarios() {
        let folder = Bound::new(fresh(&scenario));
        let reader = Mutex::new(Some(reader(&folder)));
        let options = Options::new()
            .lock_timeout(Duration::from_secs(60))
            .while_waiting(move |_| {
                drop(reader.lock().unwrap().take());
                true
            });
        let builder = scenario.builder().options(options);
        let name = OsStr::new(NAME);
        let mut editor = Some(match scenario.before.records {
            None => Opened::Content(builder.open_in(folder.clone(), name).unwrap()),
            Some(_) => Opened::Records(builder.open_records_in(folder.clone(), name).unwrap()),
        });
        for edit in &scenario.edits {
            // Nobody is left who reads by then.
            let done = scenario.apply(edit, &mut editor, || folder.clone());
            done.unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
        }
    }
}
