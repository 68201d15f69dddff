//! [`Frame::verify`]: reads and decompresses every chunk.

use super::Frame;
use super::fingerprint::Compared;
use crate::part::FramePart;
use crate::storage::check_chunk_len;
use crate::wire::ChunkPlace;
use crate::wire::kind::FrameKind;
use blosc1::ChunkHeader;
use bloscpack_array::Report;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};

/// The search for overlaps ends after this many damages.
const MOST_DAMAGES: usize = 1000;

impl Frame {
    /// Reads and decompresses every chunk and every metalayer, and compares them with the header and the index.
    ///
    /// Also compares the fingerprint, if there is one. Most frames have none: a changed byte that still decompresses is then
    /// not detected. Frames in stores that this project wrote have one.
    ///
    /// [`Report::damages`] has at most the first thousand damaged chunks; [`Report::warnings`] name files and bytes that are
    /// not part of the frame, and the missing chunks of a [virtual](Self::virtual_data) frame. Chunks are checked on all
    /// threads of the options. `progress` is called for each sound chunk with the bytes of its data, from any of these threads.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(4, 4000).in_memory()?;
    /// frame.append(&[7; 4000])?;
    /// let report = frame.verify(|_| ());
    /// assert!(report.is_sound());
    /// assert_eq!((report.chunks, report.bytes), (1, 4000));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> Report {
        self.verify_allowing(progress, || false)
    }

    /// Like [`verify`](Self::verify), but accepts a fingerprint that differs only in the shape of the array, if
    /// `may_be_resized` returns true. It is called only in that case.
    pub fn verify_allowing(
        &self,
        progress: impl Fn(u64) + Sync,
        may_be_resized: impl FnOnce() -> bool,
    ) -> Report {
        let (mut report, mut lengths) = (Report::default(), Vec::new());
        report.check(
            self.coder.threads,
            0..self.meta.places.len(),
            |slot| {
                let number = to_u64(slot);
                if !self.is_kept(number) {
                    return Ok(None);
                }
                let (bytes, header) = self.check_chunk(number)?;
                progress(bytes);
                Ok(Some((bytes, header.map(|header| (number, header.ctbytes)))))
            },
            |_, length| lengths.extend(length),
        );
        self.check_metadata(&mut report);
        match self.compare_fingerprint() {
            Ok(Compared::Same) => {}
            Ok(Compared::Resized(_)) if may_be_resized() => {}
            Ok(Compared::Resized(error) | Compared::Different(error)) => {
                report.damages.push(error);
            }
            Err(error) => report.damages.push(error),
        }
        self.check_overlaps(&lengths, &mut report.damages);
        self.warn_of_absent(&mut report);
        match self.storage.unused(&self.meta) {
            Ok(unused) => report.warnings.extend(unused),
            Err(error) => report.damages.push(error),
        }
        report
    }

    /// Warns about chunks that are missing in a virtual frame.
    fn warn_of_absent(&self, report: &mut Report) {
        let Some(found) = self.virtual_data() else {
            return;
        };
        let all = self.chunks();
        let absent = all - self.present_chunks();
        if absent > 0 || all == 0 {
            report.warnings.push(format!(
                "{absent} of {all} chunks are not in the frame, and were not checked: it is {found}"
            ));
        }
    }

    /// Whether the frame contains the chunk, at least in part.
    fn is_kept(&self, number: u64) -> bool {
        let place = self.stored_place(number);
        place.is_ok_and(|place| {
            matches!(place, ChunkPlace::At(_)) || self.check_present(number, place).is_ok()
        })
    }

    /// Reads and decompresses a chunk. Returns the length of its data, and its header if it is stored.
    fn check_chunk(&self, number: u64) -> Result<(u64, Option<ChunkHeader>)> {
        let place = self.stored_place(number)?;
        let ChunkPlace::At(_) = place else {
            // Checks that elements of this size can be NaN.
            self.fill_from(place, 0, &mut [])?;
            return Ok((self.chunk_len(number)?.into(), None));
        };
        let len = self.chunk_len(number)?.into();
        check_chunk_len(FramePart::Chunk(number), len, &self.coder.limits)?;
        let (_, header) = self.chunk_and_header(number)?;
        Ok((len, header))
    }

    /// Decompresses all vlmetalayers, and compares the description of the array with the header.
    fn check_metadata(&self, report: &mut Report) {
        for name in self.vlmetalayers() {
            if let Err(error) = self.vlmetalayer(name) {
                report.damages.push(error);
            }
        }
        let checked = self.array_meta().and_then(|meta| match meta {
            Some(meta) => Ok(meta.check(self.header())?),
            None => Ok(()),
        });
        if let Err(error) = checked {
            report.damages.push(error);
        }
    }

    /// Reports chunks that share bytes. No program writes such frames, and changing one of the chunks would change the other.
    ///
    /// `lengths` has the number and length of each sound chunk. Of all others, the header is read; chunks without a valid
    /// header are skipped.
    fn check_overlaps(&self, lengths: &[(u64, u32)], damages: &mut Vec<Error>) {
        let mut extents = Vec::new();
        for (number, place) in (0..).zip(&self.meta.places) {
            let ChunkPlace::At(at) = place else { continue };
            let known = lengths.binary_search_by_key(&number, |(number, _)| *number);
            let len = match known.ok().and_then(|known| lengths.get(known)) {
                Some((_, len)) => Some(*len),
                None => {
                    let stored = self.storage.chunk(number, *at);
                    let header = stored.and_then(|stored| stored.header());
                    header.ok().map(|header| header.ctbytes)
                }
            };
            extents.extend(len.map(|len| (*at, u64::from(len), number)));
        }
        extents.sort_unstable();
        for pair in extents.windows(2) {
            let [(at, len, first), (next, _, second)] = pair else {
                continue;
            };
            let end = match self.kind() {
                FrameKind::Sparse => at + 1,
                FrameKind::Contiguous => at + len,
            };
            if damages.len() > MOST_DAMAGES {
                break;
            }
            if *next < end {
                let message = format!("chunks {first} and {second} overlap");
                damages.push(Error::new(Code::Offsets, message));
            }
        }
    }
}
