//! Tests of more than one flipped bit before the chunks: each pair of bits of a header, and each value of each byte.
//!
//! With a checksum none of it gives other data and a success. Other metadata it may give only where they have no digest of
//! their own, which is raw metadata without a seal.

use crate::matrix::golden::{Field, Golden, goldens, parts};
use crate::matrix::tally::{Came, Table};
use bloscpack::{Decoder, Options, survey::Survey};
use std::io::Read;
use testkit::effort;

/// The data, and the text of the metadata.
type Content = (Vec<u8>, Option<String>);

fn read(file: &[u8]) -> Option<Content> {
    let mut data = Vec::new();
    Decoder::new(file).read_to_end(&mut data).ok()?;
    let survey = Survey::of(file, &Options::new()).unwrap();
    let metadata = survey.members[0].metadata.as_ref();
    Some((data, metadata.map(|metadata| metadata.text().to_owned())))
}

/// Samples of one member, with a checksum.
fn guarded() -> impl Iterator<Item = (Golden, &'static str, usize)> {
    goldens().into_iter().filter_map(|golden| {
        let map = parts(&golden.file);
        let is_one = map.iter().all(|part| part.member == 0);
        let (version, options, checksum) = (golden.file[4], golden.file[5], golden.file[6]);
        if !is_one || version == 1 || checksum == 0 {
            return None;
        }
        let container = match version {
            2 if options & 8 != 0 => "V2, sealed",
            2 => "V2, checksum",
            _ => "V3, checksum",
        };
        let behind = map
            .iter()
            .find(|part| [Field::Chunk, Field::EndMark].contains(&part.field));
        let end = behind.map_or(golden.file.len(), |part| part.at.start);
        Some((golden, container, end))
    })
}

fn judge(golden: &Golden, truth: &Content, file: &[u8], place: &dyn Fn() -> String) -> Came {
    let Some(found) = read(file) else {
        return Came::Error;
    };
    let is_sealed = golden.file[4] == 2 && golden.file[5] & 8 != 0;
    assert!(!is_sealed, "{}, {}: not noticed", golden.name, place());
    assert!(
        found.0 == truth.0,
        "{}, {}: other data",
        golden.name,
        place()
    );
    if found.1 == truth.1 {
        Came::Same
    } else {
        Came::Wrong
    }
}

#[test]
fn no_pair_of_bits_of_a_header_gives_other_data() {
    let mut table = Table::default();
    for (golden, container, _) in guarded() {
        let (truth, mut file) = (read(&golden.file).unwrap(), golden.file.clone());
        for first in effort::sample(0..256, 11) {
            file[first / 8] ^= 1 << (first % 8);
            for second in 0..first {
                file[second / 8] ^= 1 << (second % 8);
                let place = || format!("bits {second} and {first}");
                table.add(container, judge(&golden, &truth, &file, &place));
                file[second / 8] ^= 1 << (second % 8);
            }
            file[first / 8] ^= 1 << (first % 8);
        }
    }
    table.print("pairs of bits");
}

#[test]
fn no_byte_before_the_chunks_gives_other_data() {
    let mut table = Table::default();
    for (golden, container, end) in guarded() {
        let (truth, mut file) = (read(&golden.file).unwrap(), golden.file.clone());
        for at in 0..end {
            let others = (0..=255).filter(|value| *value != golden.file[at]);
            for value in effort::sample(others, 17) {
                file[at] = value;
                let place = || format!("byte {at} is {value}");
                table.add(container, judge(&golden, &truth, &file, &place));
            }
            file[at] = golden.file[at];
        }
    }
    table.print("values of bytes");
}
