//! [`ZarrArray::verify`]: decodes every chunk.

use crate::array::ZarrArray;
use crate::read::open_file;
use bloscpack_error::{Error, IoSide as _, Result, Side};
use bloscpack_storage::{EntryKind, Key, parallel};

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

/// What has the name of a chunk, or of a folder of chunks.
pub(crate) struct Found {
    pub at: Vec<u64>,
    pub key: Key,
    is_file: bool,
}

impl ZarrArray {
    /// Decodes every chunk that is stored, as [`verify_chunks`](Self::verify_chunks) does, and compares the files of the array with
    /// digests that the store has of them, as an archive has.
    ///
    /// # Errors
    /// Returns the errors of [`verify_chunks`](Self::verify_chunks).
    pub fn verify(&self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<ZarrReport> {
        let mut report = self.verify_chunks(progress)?;
        for error in self.chunks.store().store.verify(self.folder()) {
            report.damages.push(Error::from(error).on(Side::Source));
        }
        Ok(report)
    }

    /// Decodes every chunk that is stored. Only files that exist are visited, however many the shape promises.
    ///
    /// `progress` is called with the bytes of the elements of each chunk, and ends the work with an error.
    ///
    /// # Errors
    /// Returns any I/O error of listing the folders, and that of `progress`.
    pub fn verify_chunks(&self, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<ZarrReport> {
        let mut report = ZarrReport::default();
        self.for_each_file(&mut |files, foreign| {
            report.foreign += foreign;
            let decode = |found: Found| {
                let stored = self.stored_len(&found.key);
                let decoded = stored.and_then(|stored| Ok((stored, self.decoded(&found)?)));
                Ok::<_, Error>(decoded.map_err(|error| error.in_file(found.key.as_str())))
            };
            parallel::map_in_order(
                self.chunks.resources().threads,
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
            for file in files.iter().filter(|file| file.is_file) {
                report.chunks += 1;
                report.stored_bytes += self.stored_len(&file.key)?;
            }
            Ok(())
        })?;
        Ok(report)
    }

    fn stored_len(&self, key: &Key) -> Result<u64> {
        let file = open_file(&*self.chunks.store().store, key)?;
        file.map_or(Ok(0), |file| file.size().reading())
    }

    /// Decodes a chunk, and returns the bytes of its elements that are in the array.
    fn decoded(&self, found: &Found) -> Result<u64> {
        if !found.is_file {
            let store = self.chunks.store();
            return open_file(&*store.store, &store.key(&found.at)?).map(|_| 0);
        }
        let inner = &self.chunks.geometry().chunks;
        let file = self.chunks.store().files.extent(&found.at);
        let chunks = inner
            .positions(&file)
            .map(|at| self.chunks.check(inner.number(&at)));
        chunks.sum()
    }

    /// Passes the files with chunks on, some at a time, with the number of other files beside them.
    pub(crate) fn for_each_file(
        &self,
        take: &mut dyn FnMut(Vec<Found>, u64) -> Result<()>,
    ) -> Result<()> {
        const OWN: [&str; 3] = [".zarray", ".zattrs", "zarr.json"];
        let mut folders = vec![(self.folder().clone(), String::new())];
        while let Some((folder, path)) = folders.pop() {
            let (mut files, mut foreign) = (Vec::new(), 0);
            for entry in self.chunks.store().store.list(&folder).reading()? {
                let name = entry.name.to_string_lossy().into_owned();
                let key = folder.join(&name);
                let below = format!("{path}{name}");
                let is_file = entry.kind == EntryKind::File;
                match (self.chunk_below(&below), key) {
                    (Some((_, true)), Ok(key)) if entry.kind == EntryKind::Folder => {
                        folders.push((key, format!("{below}/")));
                    }
                    // A link, or a file in the place of a folder, hides chunks.
                    (Some((at, is_folder)), Ok(key)) => {
                        let is_file = is_file && !is_folder;
                        files.push(Found { at, key, is_file });
                    }
                    _ if is_file && path.is_empty() && OWN.contains(&name.as_str()) => {}
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

    /// The position of the chunk with this name, or of the first in the folder of this name, and whether it is a folder; `None`
    /// if the array has no chunk there.
    fn chunk_below(&self, name: &str) -> Option<(Vec<u64>, bool)> {
        let keys = self.meta().keys;
        let axes = self.shape().len();
        let (at, is_folder) = match keys.parse(name, axes) {
            Some(at) => (at, false),
            None if keys.separator == '/' => {
                let given = name.split('/').count() - usize::from(keys.prefix);
                let mut at = keys.parse(name, given).filter(|_| given < axes)?;
                at.resize(axes, 0);
                (at, true)
            }
            None => return None,
        };
        self.chunks
            .store()
            .files
            .has(&at)
            .then_some((at, is_folder))
    }
}
