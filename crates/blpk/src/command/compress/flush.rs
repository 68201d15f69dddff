//! `--flush-every`: compresses into a stream whose chunks end early, so that nothing waits for a full one.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use bloscpack::{Encoder, EncoderBuilder, error::IoSide as _};

use crate::command::encoding::Encoded;
use crate::failure::{About as _, Failure};
use crate::input::{Input, InterruptibleReader};
use crate::output::Target;
use crate::progress::Progress;
use crate::session::Session;
use bloscpack_open::internal::size;

/// Bytes read at once.
const PIECE_LEN: usize = 64 << 10;

/// How much data, or for how long, is held back at most.
#[derive(Clone, Copy, Debug)]
pub enum FlushEvery {
    Bytes(u64),
    Time(Duration),
}

/// Parses a time in `ms` or `s`, or a number of bytes.
pub fn parse(text: &str) -> Result<FlushEvery, String> {
    let times = [("ms", 1_u64), ("s", 1000)];
    let time = times.into_iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(factor)
    });
    let every = match time {
        Some(time) => FlushEvery::Time(Duration::from_millis(time)),
        None => size::parse(text).map(FlushEvery::Bytes).map_err(|_| {
            format!("'{text}' is neither a time such as 200ms or 2s nor a size such as 64K")
        })?,
    };
    match every {
        FlushEvery::Bytes(0) | FlushEvery::Time(Duration::ZERO) => {
            Err("must be more than 0".to_owned())
        }
        every => Ok(every),
    }
}

/// Compresses all of the input.
pub fn compress(
    builder: EncoderBuilder,
    every: FlushEvery,
    input: &Input,
    output: &mut Target,
    session: &Session,
) -> Result<Encoded, Failure> {
    let progress = Progress::new(session, input.length());
    let done = encode(builder, every, input, &progress, output);
    done.about(&output.made_from(input))
}

fn encode(
    builder: EncoderBuilder,
    every: FlushEvery,
    input: &Input,
    progress: &Progress,
    output: &mut Target,
) -> bloscpack::Result<Encoded> {
    let mut encoder = builder.interactive(true).write_to(output)?;
    match every {
        FlushEvery::Bytes(most) => by_bytes(&mut encoder, most, input, progress)?,
        FlushEvery::Time(most) => by_time(&mut encoder, most, input, progress)?,
    }
    let tuned = encoder.tune()?.cloned();
    let len = encoder.total_in();
    encoder.finish()?;
    Ok((len, tuned))
}

fn by_bytes(
    encoder: &mut Encoder<&mut Target>,
    most: u64,
    input: &Input,
    progress: &Progress,
) -> bloscpack::Result<()> {
    let mut reader = input.reader(progress);
    while encoder.read_from(reader.by_ref().take(most))? == most {
        encoder.flush()?;
    }
    Ok(())
}

fn by_time(
    encoder: &mut Encoder<&mut Target>,
    most: Duration,
    input: &Input,
    progress: &Progress,
) -> bloscpack::Result<()> {
    let mut reader = InterruptibleReader::begin(input, progress).reading()?;
    let mut piece = vec![0; PIECE_LEN];
    // When the oldest byte that was not sent has waited long enough.
    let mut due: Option<Instant> = None;
    loop {
        match reader.read_until(&mut piece, due).reading()? {
            Some(0) => return Ok(()),
            Some(len) => {
                due = due.or_else(|| Instant::now().checked_add(most));
                encoder.write_all(&piece[..len])?;
            }
            None => {}
        }
        if due.is_some_and(|due| Instant::now() >= due) {
            encoder.flush()?;
            due = None;
        }
    }
}
