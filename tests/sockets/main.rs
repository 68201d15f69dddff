//! Tests of a hundred socket peers, each with its own way of failing: data that arrived before is delivered, the
//! error says what happened, bytes after it are not taken for success, and no thread is left.
//!
//! One test, since it counts the threads of the process.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod form;
mod wire;

use bloscpack::Category;
use form::{End, Form, received, sent};
use std::io::{ErrorKind as Io, Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};
use testkit::stopwatch::HANG;
use wire::Wire;

/// Numbers that look random, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's constants.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// How the bytes of a peer come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Pace {
    Bytes,
    /// Pieces of any length, with pauses between some.
    Pieces,
    Whole,
    /// With pauses that are longer than our patience.
    Waiting,
}

/// The last action of a peer that sends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Closes,
    /// After a first member, with a second one to come: this cannot be detected.
    ClosesBetweenMembers,
    /// In the middle.
    Vanishes,
    /// Within the header, or before it.
    VanishesAtOnce,
    /// In the middle, and continues to listen.
    HalfCloses,
    /// In the middle.
    Resets,
}

/// The behaviour of a peer that receives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Listener {
    /// Takes all of it, slowly.
    Slow,
    /// With something unread, so that the connection is reset.
    Vanishes,
    /// Wants nothing more, and stays.
    ShutsDown,
    /// Never takes anything, while we have patience for a while only.
    Deaf,
}

/// How often a peer was met, and which errors came.
#[derive(Default)]
struct Tally {
    peers: usize,
    timeouts: usize,
    cut: usize,
    reset: usize,
    refused: usize,
}

#[test]
fn a_hundred_peers() {
    let (mut tally, mut dice) = (Tally::default(), Dice(12));
    let begun = Instant::now();
    let before = threads();
    let mut both = (0..4).cycle();
    for form in Form::ALL {
        for ending in [
            Ending::Closes,
            Ending::ClosesBetweenMembers,
            Ending::Vanishes,
            Ending::VanishesAtOnce,
            Ending::HalfCloses,
            Ending::Resets,
        ] {
            for pace in [Pace::Bytes, Pace::Pieces, Pace::Whole, Pace::Waiting] {
                let turn = both.next().unwrap();
                let peer = Peer {
                    form,
                    pace,
                    ending,
                    is_unix: turn % 2 == 1,
                    threads: 1 + turn / 2,
                };
                peer.meet(&mut dice, &mut tally);
                none_left(before, &format!("{peer:?}"));
            }
            // Else each pace would always have the same turn.
            both.next();
        }
        for listener in [
            Listener::Slow,
            Listener::Vanishes,
            Listener::ShutsDown,
            Listener::Deaf,
        ] {
            for turn in 0..4 {
                let what = format!("{form:?} to {listener:?}, turn {turn}");
                send(form, listener, turn, &mut dice, &what, &mut tally);
                none_left(before, &what);
            }
        }
    }
    println!(
        "{} peers in {:?}: {} timeouts, {} cut, {} reset, {} refused",
        tally.peers,
        begun.elapsed(),
        tally.timeouts,
        tally.cut,
        tally.reset,
        tally.refused
    );
    assert!(tally.peers >= 100, "{} peers", tally.peers);
    assert!(tally.timeouts > 20, "{} timeouts", tally.timeouts);
    assert!(tally.cut > 20 && tally.reset >= 10 && tally.refused > 20);
}

/// The number of threads of this process, or 0 if it is unknown.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Waits until those that are ending have ended.
fn none_left(before: usize, what: &str) {
    let begun = Instant::now();
    while threads() > before {
        assert!(
            begun.elapsed() < HANG,
            "{what}: {} threads are left",
            threads() - before
        );
        thread::sleep(Duration::from_millis(1));
    }
}

/// A peer that sends.
#[derive(Clone, Copy, Debug)]
struct Peer {
    form: Form,
    pace: Pace,
    ending: Ending,
    is_unix: bool,
    threads: usize,
}

impl Peer {
    /// The bytes to send, and how many of them are sent.
    fn script(&self, dice: &mut Dice) -> (Vec<u8>, usize) {
        let first = self.form.file(40_000);
        match self.ending {
            Ending::Closes => (first.clone(), first.len()),
            Ending::ClosesBetweenMembers => ([&first[..], &first].concat(), first.len()),
            Ending::VanishesAtOnce => (first, dice.below(32)),
            Ending::Vanishes | Ending::HalfCloses | Ending::Resets => {
                let len = first.len();
                (first, 32 + dice.below(len - 32))
            }
        }
    }

    fn meet(&self, dice: &mut Dice, tally: &mut Tally) {
        let (bytes, len) = self.script(dice);
        let (mut near, far) = Wire::pair(self.is_unix);
        if self.ending == Ending::Resets {
            // Closing a connection with unread bytes resets it, for both kinds of socket.
            near.write_all(b"unread").unwrap();
        }
        if self.pace == Pace::Waiting {
            near.set_patience(Some(Duration::from_millis(2)));
        }
        let (peer, mut its_dice) = (*self, Dice(dice.below(1 << 30) as u64));
        let all = bytes.clone();
        let sender = thread::spawn(move || peer.play(far, &all[..len], &mut its_dice));
        let found = received(self.form, self.threads, near);
        sender.join().unwrap();
        tally.peers += 1;
        tally.timeouts += found.timeouts;
        // The same from memory, which other tests compare with the written data.
        let expected = received(self.form, 1, &bytes[..len]);
        let is_whole = matches!(self.ending, Ending::Closes | Ending::ClosesBetweenMembers);
        assert_eq!(expected.end == End::Whole, is_whole, "{self:?}");
        match (self.ending, &found.end) {
            (Ending::Resets, End::Failed(kind)) => {
                tally.reset += 1;
                assert_eq!(*kind, Io::ConnectionReset, "{self:?}");
                // Bytes in transit may be lost with the connection.
                assert!(expected.content.starts_with(&found.content), "{self:?}");
            }
            (Ending::Closes | Ending::ClosesBetweenMembers, End::Whole)
            | (
                Ending::Vanishes | Ending::VanishesAtOnce | Ending::HalfCloses,
                End::Told(Category::CutShort),
            ) => {
                tally.cut += usize::from(!is_whole);
                assert!(
                    found.content == expected.content,
                    "{self:?}: {} bytes",
                    found.content.len()
                );
            }
            (_, end) => panic!("{self:?}: {end:?} after {len} of {} bytes", bytes.len()),
        }
    }

    /// Sends its bytes, and then ends in its own way.
    fn play(&self, mut far: Wire, bytes: &[u8], dice: &mut Dice) {
        let mut left = bytes;
        // So many pauses in all, of so many milliseconds at most.
        let (mut pauses, longest) = match self.pace {
            Pace::Waiting => (5, 9),
            _ => (8, 4),
        };
        while !left.is_empty() {
            let most = match self.pace {
                Pace::Bytes => 1,
                Pace::Pieces => 1 + dice.below(1500),
                Pace::Waiting => 1 + left.len() / 4,
                Pace::Whole => left.len(),
            };
            let (piece, rest) = left.split_at(most.min(left.len()));
            // Ours may have had enough of an input that is damaged, which none of these is.
            far.write_all(piece).unwrap();
            left = rest;
            let pause = self.pace == Pace::Waiting || dice.below(8) == 0;
            if pause && pauses > 0 && self.pace != Pace::Whole {
                pauses -= 1;
                let least = if self.pace == Pace::Waiting { 5 } else { 0 };
                thread::sleep(Duration::from_millis(
                    (least + dice.below(longest - least)) as u64,
                ));
            }
        }
        match self.ending {
            Ending::HalfCloses => {
                far.shutdown(Shutdown::Write);
                // Until ours has gone.
                assert_eq!(far.read(&mut [0]).unwrap_or(0), 0);
            }
            _ => drop(far),
        }
    }
}

/// Sends more than all buffers on the way can take to a peer that does not read it.
fn send(
    form: Form,
    listener: Listener,
    turn: usize,
    dice: &mut Dice,
    what: &str,
    tally: &mut Tally,
) {
    let len = if listener == Listener::Slow {
        100_000
    } else {
        12_000_000
    };
    // Over TCP a peer that shuts down, but has not taken what came before, is waited for as long as one has patience.
    let is_unix = turn % 2 == 1 || listener == Listener::ShutsDown;
    let (near, mut far) = Wire::pair(is_unix);
    if listener == Listener::Deaf {
        near.set_patience(Some(Duration::from_millis(20)));
    }
    let takes = 1 + dice.below(60_000);
    let peer = thread::spawn(move || {
        let mut taken = Vec::new();
        match listener {
            Listener::Slow => {
                let mut piece = [0; 700];
                loop {
                    match far.read(&mut piece).unwrap() {
                        0 => return (taken, None),
                        count => taken.extend_from_slice(&piece[..count]),
                    }
                    thread::sleep(Duration::from_micros(50));
                }
            }
            Listener::Deaf => return (taken, Some(far)),
            _ => {
                taken.resize(takes, 0);
                far.read_exact(&mut taken).unwrap();
            }
        }
        match listener {
            Listener::ShutsDown => {
                far.shutdown(Shutdown::Both);
                return (taken, Some(far));
            }
            _ => drop(far),
        }
        (taken, None)
    });
    let done = sent(form, 1 + turn / 2, len, near);
    let (taken, kept) = peer.join().unwrap();
    drop(kept);
    tally.peers += 1;
    let found = received(form, 1, taken.as_slice());
    match (listener, done) {
        (Listener::Slow, Ok(())) => {
            assert_eq!(found.end, End::Whole, "{what}");
            assert!(found.content == form.content(len), "{what}");
        }
        (Listener::Deaf, Err(Io::WouldBlock | Io::TimedOut))
        | (
            Listener::Vanishes | Listener::ShutsDown,
            Err(Io::BrokenPipe | Io::ConnectionReset | Io::ConnectionAborted),
        ) => {
            tally.refused += 1;
            assert!(form.content(len).starts_with(&found.content), "{what}");
            assert_eq!(found.end, End::Told(Category::CutShort), "{what}");
        }
        (_, done) => panic!("{what}: {done:?}"),
    }
}
