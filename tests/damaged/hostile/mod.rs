//! Tests that hostile inputs are refused for the right reason, at the right place, in little memory and time.
//!
//! The bound on memory, unless a test says otherwise, is 64 MiB and twice the bytes read, counted
//! by an allocator that takes every byte asked for as used, also those that the system never
//! backs with memory. 64 MiB is what a chunk may take in one piece before it is decoded.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "lengths and numbers here are small"
)]

use bloscpack::{Category, Decoder, Error, Options, survey::Survey, verify::verify, wire::Section};
use std::io::{Cursor, Read};
use std::time::Duration;

mod chunks;
mod headers;
mod metadata;
mod offsets;
mod order;

use testkit::by_fields;
use testkit::counting;

use testkit::golden;
use testkit::stopwatch;

use by_fields::{Count, Fields, PLAIN, zstd};
use stopwatch::{HANG, Stopwatch};

const MIB: usize = 1 << 20;

struct Seen {
    result: Result<u64, Error>,
    read: usize,
    peak: usize,
    time: Duration,
}

/// Decodes on this thread, which is the one that is counted.
fn decode(input: impl Read) -> Seen {
    let begun = Stopwatch::start();
    let ((result, read), peak) = counting::peak_of(|| {
        let mut decoder = Decoder::new(input);
        let mut count = Count(0);
        let result = decoder.copy_to(&mut count).map(|_| count.0);
        (result, decoder.total_in() as usize)
    });
    Seen {
        result,
        read,
        peak,
        time: begun.elapsed(),
    }
}

/// Runs all readers over the input, holds them to `bound`, and gives what the decoder said.
fn bounded(name: &str, input: &[u8], bound: usize) -> Result<u64, Error> {
    let seen = decode(input);
    assert!(
        seen.peak <= bound + 2 * seen.read,
        "{name}: {} bytes of memory for {} read",
        seen.peak,
        seen.read
    );
    assert!(seen.time < HANG, "{name}: {:?}", seen.time);
    let begun = Stopwatch::start();
    let (report, peak) = counting::peak_of(|| verify(input, &Options::new(), |_| Ok(())).unwrap());
    assert!(
        peak <= bound + 2 * input.len(),
        "{name}: verify took {peak} bytes"
    );
    assert_eq!(report.is_sound(), seen.result.is_ok(), "{name}");
    let (_, peak) = counting::peak_of(|| {
        let _ = Survey::of(input, &Options::new());
        let _ = Survey::of_file(Cursor::new(input), &Options::new());
    });
    assert!(
        peak <= bound + 2 * input.len(),
        "{name}: Survey took {peak} bytes"
    );
    assert!(begun.elapsed() < HANG, "{name}");
    seen.result
}

/// The input is refused with this category, in this section, and a format error whose debug form
/// begins like this.
#[track_caller]
fn refused(name: &str, input: &[u8], category: Category, section: Section, kind: &str) {
    let error = bounded(name, input, 64 * MIB).expect_err(name);
    let place = error.position().map(|position| position.section);
    assert_eq!(error.category(), category, "{name}: {error}");
    assert_eq!(place, Some(section), "{name}: {error}");
    let Some(format) = error.format_error() else {
        panic!("{name}: {error:?}");
    };
    let shown = format!("{format:?}");
    assert!(shown.starts_with(kind), "{name}: {shown}, expected {kind}");
}
