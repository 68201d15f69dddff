//! [`verify`]: every chunk checked and decoded, every damage reported.

use super::engine::{Engine, Piece, Settings, Warning};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::wire::ParseError;
use std::io::Read;
use std::ops::Range;

/// Something wrong with an input.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// What is wrong, with chunk, byte and section.
    pub error: Error,
    /// Which of the uncompressed bytes are lost, counted over all members, where that is known.
    pub content: Option<Range<u64>>,
}

/// What [`verify`] found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// Members seen.
    pub members: u64,
    /// Chunks checked, damaged ones included.
    pub chunks: u64,
    /// Uncompressed bytes of the sound chunks.
    pub bytes: u64,
    /// All that is wrong, in order of place; nothing if the input is sound.
    pub damages: Vec<Damage>,
    /// What is odd without being wrong.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }
}

/// Reads all of an input, checks and decodes every chunk, and goes on behind a damaged one.
///
/// Damage to the structure (a header, a table, the length of a chunk) is the last that can be
/// found, since from there on nothing tells where chunks begin.
///
/// ```
/// use bloscpack::{Limits, verify};
/// let mut file = bloscpack::compress(&[1; 5000])?;
/// assert!(verify(file.as_slice(), Limits::default(), 1)?.is_sound());
/// *file.last_mut().unwrap() ^= 1;
/// let report = verify(file.as_slice(), Limits::default(), 1)?;
/// assert_eq!(report.damages.len(), 1);
/// # Ok::<(), bloscpack::Error>(())
/// ```
///
/// # Errors
/// Those of the reader, and a worker that panicked. What is wrong with the input is in the report.
pub fn verify<R: Read>(reader: R, limits: Limits, threads: usize) -> Result<Report> {
    let mut engine = Engine::new(
        reader,
        Settings {
            limits,
            threads,
            ..Settings::default()
        },
    );
    let mut report = Report {
        members: 0,
        chunks: 0,
        bytes: 0,
        damages: Vec::new(),
        warnings: Vec::new(),
    };
    loop {
        match engine.next() {
            Ok(Some(piece)) => {
                let buffer = report.add(piece);
                engine.recycle(buffer);
            }
            Ok(None) => break,
            Err(error) if matches!(error.kind(), ErrorKind::Format(_)) => {
                report.damages.push(Damage {
                    error,
                    content: None,
                });
                break;
            }
            Err(error) => return Err(error),
        }
    }
    report.members = engine.members();
    report.warnings = std::mem::take(&mut engine.warnings);
    Ok(report)
}

impl Report {
    /// Counts a piece and gives back its buffer.
    fn add(&mut self, piece: Piece) -> Vec<u8> {
        let Piece {
            place,
            buffer,
            len,
            result,
        } = piece;
        match result {
            Ok(()) => self.bytes = self.bytes.saturating_add(u64::try_from(len).unwrap_or(0)),
            Err(error) => {
                let error = Error::from(ParseError {
                    error,
                    position: place.position,
                });
                self.damages.push(Damage {
                    error,
                    content: Some(place.content),
                });
            }
        }
        if place.first {
            self.chunks = self.chunks.saturating_add(1);
        }
        buffer
    }
}
