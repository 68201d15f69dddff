//! Tests that the parser's events do not depend on how its input is cut.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::Limits;
use bloscpack::wire::{Ending, Event, Hashers, ParseError, Parser};

use golden::{Random, corpus, goldens};
use testkit::golden;

/// All events of a parser, with the data of each chunk in one piece.
#[derive(Debug, PartialEq)]
struct Told {
    events: Vec<String>,
    result: Result<Ending, ParseError>,
}

/// Feeds the input in pieces of the lengths that `cut` gives.
fn told(input: &[u8], mut cut: impl FnMut() -> usize) -> Told {
    // Low limits, so that some of the damaged inputs exceed them.
    let limits = Limits::new().chunk(1 << 20).metadata(1 << 16);
    let mut parser = Parser::new(limits, Hashers::default());
    let mut events = Vec::new();
    let mut data = Vec::new();
    let mut rest = input;
    while !rest.is_empty() {
        let (mut piece, after) = rest.split_at(cut().min(rest.len()));
        rest = after;
        loop {
            match parser.parse(&mut piece) {
                Ok(Event::NeedInput) => break,
                Ok(Event::ChunkData(bytes)) => data.extend_from_slice(bytes),
                Ok(event) => {
                    if !data.is_empty() {
                        events.push(format!(
                            "{} bytes, {:08x}",
                            data.len(),
                            crc32fast::hash(&data)
                        ));
                        data.clear();
                    }
                    let place = (parser.member_at(), parser.members(), parser.position());
                    events.push(format!("{event:?} {place:?}"));
                }
                Err(error) => {
                    let again = parser.parse(&mut piece);
                    assert_eq!(again.unwrap_err(), error, "an error stays");
                    assert_eq!(parser.finish().unwrap_err(), error, "an error stays");
                    return Told {
                        events,
                        result: Err(error),
                    };
                }
            }
        }
        assert!(piece.is_empty(), "more is asked for before all is used");
    }
    Told {
        events,
        result: parser.finish(),
    }
}

/// Whether all ways to cut the input come to the same; counts the events and errors.
#[derive(Default, Debug)]
struct Tally {
    inputs: u32,
    errors: u32,
    events: usize,
}

fn compare(name: &str, input: &[u8], random: &mut Random, tally: &mut Tally) {
    let whole = told(input, || usize::MAX);
    assert_eq!(told(input, || 1), whole, "{name}: byte by byte");
    for longest in [3, 40, 700] {
        let cuts = told(input, || random.below(longest) + 1);
        assert_eq!(cuts, whole, "{name}: pieces of up to {longest}");
    }
    tally.inputs += 1;
    tally.errors += u32::from(whole.result.is_err());
    tally.events += whole.events.len();
}

/// One thing done to a file that its writer would not have done.
fn damaged(file: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = file.to_vec();
    let at = random.below(file.len());
    // Half of the damage goes to the part before the chunks, which has the most fields.
    let at = if random.below(2) == 0 { at } else { at % 128 }.min(file.len() - 1);
    match random.below(6) {
        0 => file.truncate(at),
        1 => file[at] ^= 1 << random.below(8),
        2 => file[at] = [0, 0xff, 0x7f, 0x80][random.below(4)],
        3 => {
            let end = (at + random.below(40)).min(file.len());
            file.drain(at..end);
        }
        4 => {
            let end = (at + random.below(40)).min(file.len());
            let copy = file[at..end].to_vec();
            file.splice(at..at, copy);
        }
        _ => {
            let from = random.below(other.len());
            file.truncate(at);
            file.extend_from_slice(&other[from..]);
        }
    }
    file
}

#[test]
fn our_own_files_and_damaged_ones_tell_the_same_in_all_pieces() {
    let mut random = Random::new(31);
    let mut tally = Tally::default();
    let goldens = goldens();
    for golden in &goldens {
        compare(&golden.name, &golden.file, &mut random, &mut tally);
    }
    assert_eq!(tally.errors, 0);
    println!("sound: {tally:?}");
    let mut tally = Tally::default();
    for round in 0..300 {
        for (number, golden) in goldens.iter().enumerate() {
            let other = &goldens[(number + round) % goldens.len()];
            let file = damaged(&golden.file, &other.file, &mut random);
            compare(&golden.name, &file, &mut random, &mut tally);
        }
    }
    println!("damaged: {tally:?}");
    assert!(tally.errors > tally.inputs / 2);
}

#[test]
fn files_of_others_tell_the_same_in_all_pieces() {
    let mut random = Random::new(32);
    let (mut sound, mut broken) = (Tally::default(), Tally::default());
    let files = corpus(8000);
    for (name, file) in &files {
        compare(name, file, &mut random, &mut sound);
        for _ in 0..10 {
            let (_, other) = &files[random.below(files.len())];
            let file = damaged(file, other, &mut random);
            compare(name, &file, &mut random, &mut broken);
        }
    }
    println!("sound: {sound:?}, damaged: {broken:?}");
}

#[test]
fn what_is_no_bloscpack_file_tells_the_same_in_all_pieces() {
    let mut random = Random::new(33);
    let mut tally = Tally::default();
    for _ in 0..2000 {
        let len = random.below(100);
        let mut input: Vec<u8> = (0..len).map(|_| random.next().to_le_bytes()[0]).collect();
        let magic = random.below(6).min(len).min(4);
        input[..magic].copy_from_slice(&b"blpk"[..magic]);
        if let Some(version) = input.get_mut(4) {
            *version &= 3;
        }
        compare("noise", &input, &mut random, &mut tally);
    }
    assert_eq!(tally.errors, tally.inputs);
}
