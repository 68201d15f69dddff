//! [`Frame::verify`]: every chunk, read and decompressed.

use super::home::Stored;
use super::{Frame, fetch};
use crate::wire::ChunkPlace;
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::parallel;
use std::sync::{Mutex, PoisonError};

/// Damages after which nobody wants to know more.
const MOST_DAMAGES: usize = 1000;

/// What [`Frame::verify`] has found.
#[derive(Debug, Default)]
pub struct FrameReport {
    /// What is damaged: each error tells its chunk and byte.
    pub damages: Vec<Error>,
    /// What is odd and does not keep the frame from being read: chunks that nobody needs, bytes behind its end.
    pub warnings: Vec<String>,
    /// Chunks that were read.
    pub chunks: u64,
    /// Bytes of their data.
    pub bytes: u64,
}

impl FrameReport {
    /// Whether nothing is damaged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }
}

impl Frame {
    /// Reads and decompresses every chunk and every layer of metadata, and compares them with what the frame says.
    ///
    /// Frames have no checksums: bytes that were changed and can be decompressed nevertheless are not noticed.
    ///
    /// `progress` is called with the bytes of data of each chunk that was read.
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> FrameReport {
        let found = Mutex::new((FrameReport::default(), Vec::new()));
        let numbers = 0..self.outline.places.len();
        let done = parallel::for_each(self.coders.threads, numbers.into_iter(), |number| {
            let number = u64::try_from(number).unwrap_or(u64::MAX);
            let checked = self.check_chunk(number);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let (report, damages) = &mut *found;
            match checked {
                Ok(bytes) => {
                    progress(bytes);
                    report.chunks = report.chunks.saturating_add(1);
                    report.bytes = report.bytes.saturating_add(bytes);
                }
                Err(error) => damages.push((number, error)),
            }
            match damages.len() > MOST_DAMAGES {
                true => Err(Error::usage("enough")),
                false => Ok(()),
            }
        });
        let (mut report, mut damages) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        damages.sort_by_key(|(number, _)| *number);
        let damaged: Vec<u64> = damages.iter().map(|(number, _)| *number).collect();
        report
            .damages
            .extend(damages.into_iter().map(|(_, error)| error));
        // All other errors are noted, and of a chunk whose check panicked nobody knows anything.
        if let Err(error) = done
            && matches!(error.kind(), ErrorKind::Panicked)
        {
            report.damages.push(error);
        }
        self.check_layers(&mut report);
        if let Err(error) = self.overlaps(&damaged, &mut report.damages) {
            report.damages.push(error);
        }
        match self.home.strangers(&self.outline) {
            Ok(strangers) => report.warnings.extend(strangers),
            Err(error) => report.damages.push(error),
        }
        report
    }

    /// Reads a chunk and decompresses all of it.
    fn check_chunk(&self, number: u64) -> Result<u64> {
        let place = self.place(number)?;
        let ChunkPlace::At(_) = place else {
            // Of the elements' size, not everything can be.
            self.fill_from(place, 0, &mut [])?;
            return Ok(self.chunk_len(number)?.into());
        };
        let len = u64::try_from(self.chunk(number)?.len()).unwrap_or(u64::MAX);
        Ok(len)
    }

    fn check_layers(&self, report: &mut FrameReport) {
        for name in self.vlmetalayers() {
            if let Err(error) = self.vlmetalayer(name) {
                report.damages.push(error);
            }
        }
        if let Err(error) = self.array_meta().and_then(|meta| match meta {
            Some(meta) => Ok(meta.check(self.header())?),
            None => Ok(()),
        }) {
            report.damages.push(error);
        }
    }

    /// Notes chunks that share bytes with others, which no writer writes; a program that changes the one changes the other.
    /// Those that are known to be damaged, sorted, may have no header any more.
    fn overlaps(&self, damaged: &[u64], damages: &mut Vec<Error>) -> Result<()> {
        let mut extents = Vec::new();
        for (number, place) in (0u64..).zip(&self.outline.places) {
            if let ChunkPlace::At(at) = place {
                let stored = self.home.chunk(*at);
                match stored.and_then(|stored: Stored<'_>| fetch::header(&stored)) {
                    Ok(header) => extents.push((*at, u64::from(header.ctbytes), number)),
                    Err(_) if damaged.binary_search(&number).is_ok() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        extents.sort_unstable();
        let is_sparse = self.kind() == super::FrameKind::Sparse;
        for pair in extents.windows(2) {
            let [(at, len, one), (next, _, other)] = pair else {
                continue;
            };
            let end = if is_sparse {
                at.saturating_add(1)
            } else {
                at.saturating_add(*len)
            };
            if damages.len() > MOST_DAMAGES {
                break;
            }
            if *next < end {
                let what = format!("chunks {one} and {other} lie over one another");
                damages.push(crate::error::frame(blosc1::Fault::Damaged, what));
            }
        }
        Ok(())
    }
}
