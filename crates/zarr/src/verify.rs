//! [`ZarrArray::verify`]: decodes every chunk.

use crate::array::ZarrArray;
use crate::int::{byte_len, to_u64};
use bloscpack_dtype::boxes::common;
use bloscpack_error::{Error, IoSide as _, Result};
use bloscpack_storage::{EntryKind, Key, parallel};
use std::ops::Range;

/// The result of [`ZarrArray::verify`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ZarrReport {
    /// Sound chunks.
    pub chunks: u64,
    /// Bytes of the elements in them, without what is past the end of the array.
    pub bytes: u64,
    /// All damage. Each error has the file.
    pub damages: Vec<Error>,
    /// Files that are not part of the array.
    pub foreign: u64,
    /// Bytes of all stored chunks.
    pub stored_bytes: u64,
}

/// The most damages that are kept.
const MAX_DAMAGES: usize = 1000;
/// Files that are passed on at once.
const MAX_FILES: usize = 1 << 10;
/// Bytes of a part of a shard that are decoded at once, unless one chunk has more.
const AT_ONCE: u64 = 64 << 20;

/// A file with the name of a chunk.
struct Found {
    at: Vec<u64>,
    key: Key,
}

impl ZarrArray {
    /// Decodes every chunk that is stored. Only files that exist are visited, however many the shape promises.
    ///
    /// `progress` is called with the bytes of the elements of each chunk, and ends the work with an error.
    ///
    /// # Errors
    /// Returns any I/O error of listing the folders, and that of `progress`.
    pub fn verify(&self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<ZarrReport> {
        let mut report = ZarrReport::default();
        self.for_each_file(&mut |files, foreign| {
            report.foreign += foreign;
            let decode = |found: Found| {
                let stored = self.stored_len(&found.key);
                let decoded = stored.and_then(|stored| Ok((stored, self.decoded(&found)?)));
                Ok::<_, Error>(decoded.map_err(|error| error.in_file(found.key.as_str())))
            };
            parallel::map_in_order(
                self.threads,
                files.into_iter(),
                decode,
                |decoded| match decoded {
                    Ok((stored, bytes)) => {
                        report.chunks += 1;
                        report.bytes += bytes;
                        report.stored_bytes += stored;
                        progress(bytes)
                    }
                    Err(error) if report.damages.len() < MAX_DAMAGES => {
                        report.damages.push(error);
                        Ok(())
                    }
                    Err(_) => Ok(()),
                },
            )
        })?;
        Ok(report)
    }

    /// Files with chunks, their bytes, and other files, without decoding anything.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn survey(&self) -> Result<ZarrReport> {
        let mut report = ZarrReport::default();
        self.for_each_file(&mut |files, foreign| {
            report.foreign += foreign;
            report.chunks += to_u64(files.len());
            for file in files {
                report.stored_bytes += self.stored_len(&file.key)?;
            }
            Ok(())
        })?;
        Ok(report)
    }

    fn stored_len(&self, key: &Key) -> Result<u64> {
        self.store.open(key).and_then(|file| file.size()).reading()
    }

    /// Decodes a chunk, and returns the bytes of its elements that are in the array.
    fn decoded(&self, found: &Found) -> Result<u64> {
        let all: Vec<Range<u64>> = self.chunk_shape().iter().map(|len| 0..*len).collect();
        match self.meta.codecs.is_read_whole() {
            true => drop(self.read_part(&found.at, &all)?),
            false => self.decode_parts(&found.at, all)?,
        }
        let whole: Vec<Range<u64>> = self.shape().iter().map(|len| 0..*len).collect();
        let part = common(&self.extent(&found.at), &whole);
        let lens: Vec<u64> = part.iter().map(|range| range.end - range.start).collect();
        Ok(byte_len(&lens, self.dtype().itemsize()).unwrap_or(0))
    }

    /// Decodes a shard part by part, cut where its chunks are.
    fn decode_parts(&self, at: &[u64], all: Vec<Range<u64>>) -> Result<()> {
        let inner = self.meta.inner_chunk_shape();
        let mut parts = vec![all];
        while let Some(part) = parts.pop() {
            let lens: Vec<u64> = part.iter().map(|range| range.end - range.start).collect();
            let bytes = byte_len(&lens, self.dtype().itemsize()).unwrap_or(u64::MAX);
            let halves = (bytes > AT_ONCE).then(|| halves(&part, inner)).flatten();
            match halves {
                Some(halves) => parts.extend(halves),
                None => drop(self.read_part(at, &part)?),
            }
        }
        Ok(())
    }

    /// Passes the files with chunks on, some at a time, with the number of other files beside them.
    fn for_each_file(&self, take: &mut dyn FnMut(Vec<Found>, u64) -> Result<()>) -> Result<()> {
        const OWN: [&str; 3] = [".zarray", ".zattrs", "zarr.json"];
        let mut folders = vec![(self.folder.clone(), String::new())];
        while let Some((folder, path)) = folders.pop() {
            let (mut files, mut foreign) = (Vec::new(), 0);
            for entry in self.store.list(&folder).reading()? {
                let name = entry.name.to_string_lossy().into_owned();
                let key = folder.join(&name);
                let below = format!("{path}{name}");
                match (entry.kind, key) {
                    (EntryKind::Folder, Ok(key)) if self.may_lead_to_chunks(&below) => {
                        folders.push((key, format!("{below}/")));
                    }
                    (EntryKind::File, Ok(key)) => match self.position(&below) {
                        Some(at) => files.push(Found { at, key }),
                        None if path.is_empty() && OWN.contains(&name.as_str()) => {}
                        None => foreign += 1,
                    },
                    _ => foreign += 1,
                }
                if files.len() >= MAX_FILES {
                    take(std::mem::take(&mut files), std::mem::take(&mut foreign))?;
                }
            }
            take(files, foreign)?;
        }
        Ok(())
    }

    /// The position of the chunk with this name, if the array has one there.
    fn position(&self, name: &str) -> Option<Vec<u64>> {
        let at = self.meta.keys.parse(name, self.shape().len())?;
        let mut axes = at.iter().zip(self.shape().iter().zip(self.chunk_shape()));
        axes.all(|(at, (len, chunk))| *at < len.div_ceil(*chunk))
            .then_some(at)
    }

    /// Whether a folder may contain chunks, by its depth.
    fn may_lead_to_chunks(&self, path: &str) -> bool {
        let keys = self.meta.keys;
        let depth = path.split('/').count();
        let axes = self.shape().len();
        match (keys.separator, keys.prefix) {
            ('/', true) => depth <= axes && (path == "c" || path.starts_with("c/")),
            ('/', false) => depth < axes,
            _ => false,
        }
    }
}

/// Both halves of a part of a shard, cut between chunks along the first axis that has several of them.
fn halves(part: &[Range<u64>], inner: &[u64]) -> Option<[Vec<Range<u64>>; 2]> {
    let mut axes = part.iter().zip(inner);
    let axis = axes.position(|(range, len)| range.end - range.start > *len)?;
    let (range, len) = (part.get(axis)?, inner.get(axis)?);
    let chunks = (range.end - range.start).div_ceil(*len);
    let middle = range.start + chunks / 2 * len;
    let (mut first, mut second) = (part.to_vec(), part.to_vec());
    first.get_mut(axis)?.end = middle;
    second.get_mut(axis)?.start = middle;
    Some([second, first])
}
