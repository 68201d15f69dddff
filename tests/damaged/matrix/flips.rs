//! Tests of each flipped bit of each file of datasets and frames.

use crate::matrix::BASE;
use crate::matrix::counting::peak_of;
use crate::matrix::fields::places;
use crate::matrix::harmless::{May, RULES, Rule};
use crate::matrix::samples::{Files, Sample, Told, samples};
use crate::matrix::tally::{Came, Counts, Table};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::effort;

/// The outcome of reading the files, in bounded memory and without a panic.
pub fn came(sample: &Sample, files: &Files, truth: &Told, place: &dyn Fn() -> String) -> Came {
    let read = || peak_of(|| sample.read(files));
    let read = catch_unwind(AssertUnwindSafe(read));
    let (read, peak) = read.unwrap_or_else(|_| panic!("{}: panic", place()));
    assert!(peak <= BASE + 2 * sample.len(), "{}: {peak} bytes", place());
    match read {
        Err(_) => Came::Error,
        Ok(told) if told == *truth => Came::Same,
        Ok(_) => Came::Wrong,
    }
}

type ByField = BTreeMap<(&'static str, String), Counts>;

fn flip_all(sample: &Sample, table: &mut Table, fields: &mut ByField) {
    let truth = sample.read(&sample.files).unwrap();
    let mut files = sample.files.clone();
    for place in places(sample) {
        let counts = fields.entry((sample.container, place.field.clone()));
        let counts = counts.or_default();
        for bit in effort::sample(place.at.start * 8..place.at.end * 8, 5) {
            let turn = |files: &mut Files| files[place.file].1[bit / 8] ^= 1 << (bit % 8);
            let path = &sample.files[place.file].0;
            let place = || {
                let (container, name) = (sample.container, &sample.name);
                let (byte, bit, field) = (bit / 8, bit % 8, &place.field);
                format!("{container}, {name}: {path}, byte {byte} bit {bit}, {field}")
            };
            turn(&mut files);
            let came = came(sample, &files, &truth, &place);
            turn(&mut files);
            counts.add(came);
            table.add(sample.container, came);
        }
    }
}

/// Whether the rules allow changes of a field to be harmless, and to be wrong; without a rule they allow neither.
fn allowed(container: &str, field: &str) -> (bool, bool) {
    let about = |rule: &&Rule| rule.containers.contains(&container) && rule.fields.contains(&field);
    let rules: Vec<_> = RULES.iter().filter(about).collect();
    let may = |wanted| {
        rules
            .iter()
            .any(|rule| [wanted, May::Both].contains(&rule.may))
    };
    (may(May::Same), may(May::Wrong))
}

/// Whether any container needs the rule for this field.
fn is_needed(rule: &Rule, field: &str, fields: &ByField) -> bool {
    let mut sum = Counts::default();
    for container in rule.containers {
        let counts = fields
            .iter()
            .find(|((of, name), _)| of == container && name == field);
        let counts = counts.map_or(Counts::default(), |(_, counts)| *counts);
        sum.same += counts.same;
        sum.wrong += counts.wrong;
    }
    match rule.may {
        May::Same => sum.same > 0,
        May::Wrong => sum.wrong > 0,
        May::Both => sum.same > 0 && sum.wrong > 0,
    }
}

/// Prints the changes that are harmless or cannot be detected, with the reason.
fn print(fields: &ByField) {
    println!("\n| container | field | bits | error | harmless | silently wrong |");
    println!("|---|---|---|---|---|---|");
    for ((container, field), counts) in fields {
        let Counts { error, same, wrong } = *counts;
        if same + wrong > 0 {
            let all = counts.all();
            println!("| {container} | {field} | {all} | {error} | {same} | {wrong} |");
        }
    }
    println!("\n| field | of | may | because |");
    println!("|---|---|---|---|");
    for rule in RULES {
        let (fields, containers) = (rule.fields.join("; "), rule.containers.join("; "));
        let may = match rule.may {
            May::Same => "be harmless",
            May::Wrong => "be silently wrong",
            May::Both => "be either",
        };
        println!("| {fields} | {containers} | {may} | {} |", rule.why);
    }
}

#[test]
fn no_flip_does_what_is_not_on_the_list() {
    let (mut table, mut fields) = (Table::default(), ByField::new());
    for sample in &samples() {
        flip_all(sample, &mut table, &mut fields);
    }
    table.print("bits");
    print(&fields);
    let mut complaints = Vec::new();
    for ((container, field), counts) in &fields {
        let (harmless, otherwise) = allowed(container, field);
        if (counts.same > 0 && !harmless) || (counts.wrong > 0 && !otherwise) {
            complaints.push(format!(
                "{container}, {field}: {counts:?} is not on the list"
            ));
        }
    }
    // A sample may miss the few bits for which there is a rule.
    for rule in RULES.iter().filter(|_| effort::is_whole()) {
        let idle = |field: &&&str| !is_needed(rule, field, &fields);
        for field in rule.fields.iter().filter(idle) {
            complaints.push(format!(
                "{:?}, {field}: the rule is not needed",
                rule.containers
            ));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert!(
        table.sum().all() as usize > effort::cases(90_000, 10),
        "{:?}",
        table.sum()
    );
}
