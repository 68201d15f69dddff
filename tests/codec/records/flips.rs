//! Tests that one flipped bit anywhere in a file of records is an error or changes nothing: no record, not their
//! number, not the metadata.

use crate::records::map::{Field, Part, i64_at, parts};
use crate::records::samples::{Sample, samples};
use crate::records::tally::{Came, Table};
use crate::records::{Told, by_number, in_order};
use bloscpack::{Options, verify::verify};
use std::collections::BTreeMap;
use testkit::effort;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Error,
    Same,
    Wrong,
}

/// The outcomes of reading a file in order, by number, and of verifying it.
fn outcomes(truth: &Told, file: &[u8]) -> [Outcome; 3] {
    let judge = |told: Option<Told>| match told {
        None => Outcome::Error,
        Some(told) if told == *truth => Outcome::Same,
        Some(_) => Outcome::Wrong,
    };
    let (records, end) = in_order(file);
    // Records returned before an error must be right as well.
    let is_prefix = truth.records.starts_with(&records);
    let in_order = match end {
        _ if !is_prefix => Outcome::Wrong,
        end => judge(end.ok().map(|metadata| Told { records, metadata })),
    };
    let sound = verify(file, &Options::new(), |_| Ok(()))
        .unwrap()
        .is_sound();
    let verified = if sound { Outcome::Same } else { Outcome::Error };
    [in_order, judge(by_number(file).ok()), verified]
}

/// The expected outcomes of a flip that turns a field into `new`.
fn expected(truth: &Told, file: &[u8], part: &Part, new: i64) -> [Outcome; 3] {
    let (options, nchunks) = (file[5], i64_at(file, 16));
    let is_packed = truth.metadata.as_ref().unwrap().contains("packing");
    if file[4] == 2 {
        // The seal covers all that the digests do not.
        return [Outcome::Error; 3];
    }
    match part.field {
        // Nothing that is read depends on it: each chunk names its own.
        Field::Typesize => [Outcome::Same; 3],
        // Undefined by the format, zero from all writers, passed over by the reference.
        Field::SectionOptions | Field::SectionUserCodec | Field::SectionRoom => [Outcome::Same; 3],
        // Not used for reading.
        Field::SectionLevel if (0..=9).contains(&new) => [Outcome::Same; 3],
        // A table of unknown length may have no entries, and one of no entries need not be there.
        Field::Options if new == i64::from(options ^ 1) => {
            let is_empty = nchunks == 0 && i64_at(file, 24) == 0;
            let harmless = is_empty || (nchunks < 0 && options & 1 == 0);
            [if harmless {
                Outcome::Same
            } else {
                Outcome::Error
            }; 3]
        }
        // Records turned into content: as chunks they are sound, as content the same as before.
        Field::Options if new == i64::from(options ^ 4) && !is_packed => {
            [Outcome::Error, Outcome::Error, Outcome::Same]
        }
        // Without chunks there is nothing that it could be of.
        Field::Checksum if nchunks == 0 && (0..=8).contains(&new) => [Outcome::Same; 3],
        // "None" after the only digest of an input: the reference, too, takes the following bytes for a remnant of
        // its append.
        Field::Checksum if new == 0 => {
            let one = nchunks == 1 || (nchunks < 0 && truth.records.is_empty());
            [if one { Outcome::Same } else { Outcome::Error }; 3]
        }
        // Reading by number does not use spare offsets.
        Field::SpareOffset if nchunks > 0 => [Outcome::Error, Outcome::Same, Outcome::Error],
        _ => [Outcome::Error; 3],
    }
}

/// The field after the flip, as a signed number; the first eight bytes of a longer one.
fn number(file: &[u8], part: &Part) -> i64 {
    let field = &file[part.at.clone()];
    match field.len() {
        1 => field[0].into(),
        4 => i32::from_le_bytes(field.try_into().unwrap()).into(),
        8.. => i64_at(field, 0),
        _ => 0,
    }
}

#[derive(Default)]
struct Tally {
    flips: u32,
    harmless: BTreeMap<Field, u32>,
    complaints: Vec<String>,
    table: Table,
}

/// The worst that came of it for a reader of records.
fn worst(found: [Outcome; 3]) -> Came {
    let [in_order, by_number, _] = found;
    match (in_order, by_number) {
        (Outcome::Wrong, _) | (_, Outcome::Wrong) => Came::Wrong,
        (Outcome::Same, _) | (_, Outcome::Same) => Came::Same,
        _ => Came::Error,
    }
}

fn flip_all(sample: &Sample, tally: &mut Tally) {
    let metadata = in_order(sample.file.as_slice()).1.unwrap();
    let records = sample.records.clone();
    let truth = Told { records, metadata };
    assert_eq!(
        outcomes(&truth, &sample.file),
        [Outcome::Same; 3],
        "{}",
        sample.name
    );
    let packing = truth.metadata.as_ref().unwrap().contains("packing");
    let form = if packing { "packed" } else { "one a chunk" };
    let guard = if sample.file[4] == 2 {
        "V2, sealed"
    } else {
        "V3, checksum"
    };
    let container = format!("records {form}, {guard}");
    let mut file = sample.file.clone();
    for part in parts(&sample.file) {
        // Short fields in full: each of their bits may have a rule of its own.
        let one_in = if part.at.len() > 8 { 13 } else { 1 };
        for bit in effort::sample(part.at.start * 8..part.at.end * 8, one_in) {
            file[bit / 8] ^= 1 << (bit % 8);
            let expected = expected(&truth, &sample.file, &part, number(&file, &part));
            let found = outcomes(&truth, &file);
            file[bit / 8] ^= 1 << (bit % 8);
            tally.flips += 1;
            tally.table.add(&container, worst(found));
            if found != [Outcome::Error; 3] {
                *tally.harmless.entry(part.field).or_default() += 1;
            }
            if found != expected {
                let (byte, bit, field) = (bit / 8, bit % 8, part.field);
                tally.complaints.push(format!(
                    "{}: byte {byte} bit {bit}, {field:?}: {found:?}, should be {expected:?}",
                    sample.name
                ));
            }
        }
    }
}

#[test]
fn no_flip_is_silent() {
    let (mut tally, samples) = (Tally::default(), samples());
    for sample in &samples {
        flip_all(sample, &mut tally);
    }
    println!(
        "{} files, {} flips; without effect for some reader, by field: {:?}",
        samples.len(),
        tally.flips,
        tally.harmless
    );
    tally.table.print("bits");
    for complaint in tally.complaints.iter().take(400) {
        println!("  {complaint}");
    }
    assert!(
        tally.complaints.is_empty(),
        "{} complaints",
        tally.complaints.len()
    );
    // Each rule must apply to at least one field.
    for field in [
        Field::Options,
        Field::Checksum,
        Field::Typesize,
        Field::SectionOptions,
        Field::SectionLevel,
        Field::SectionUserCodec,
        Field::SectionRoom,
        Field::SpareOffset,
    ] {
        assert!(tally.harmless.contains_key(&field), "{field:?}");
    }
    assert!(tally.flips as usize > effort::cases(300_000, 30));
}
