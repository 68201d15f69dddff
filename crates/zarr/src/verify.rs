//! [`ZarrArray::verify`]: decodes every chunk.

use crate::array::ZarrArray;
use crate::read::open_file;
use bloscpack_array::Report;
use bloscpack_error::{Error, IoSide as _, Result, Side};
use bloscpack_storage::{EntryKind, Key};

/// The files of an array, without what is in them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// Files with chunks.
    pub chunks: u64,
    /// Bytes of these files.
    pub stored_bytes: u64,
    /// Files and folders that are not part of the array.
    pub foreign: u64,
}

/// Files that are passed on at once.
const MAX_FILES: usize = 1 << 10;

/// Files that are asked for where they cannot be listed.
const MAX_ASKED: u64 = 1 << 20;

/// What has the name of a chunk, or of a folder of chunks.
pub(crate) struct Found {
    pub at: Vec<u64>,
    pub key: Key,
    is_file: bool,
}

impl ZarrArray {
    /// Decodes every chunk that is stored, as [`verify_chunks`](Self::verify_chunks) does, and compares the files of the array with
    /// digests that the store has of them, as an archive has.
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> Report {
        let mut report = self.verify_chunks(progress);
        for error in self.chunks.store().store.verify(self.folder()) {
            report.damages.push(Error::from(error).on(Side::Source));
        }
        report
    }

    /// Decodes every chunk that is stored. Only files that exist are visited, however many the shape promises.
    ///
    /// `progress` is called with the bytes of the elements of each sound file, without what is past the end of the array, from any
    /// thread.
    pub fn verify_chunks(&self, progress: impl Fn(u64) + Sync) -> Report {
        let (mut report, mut others) = (Report::default(), 0);
        let mut check = |files: Vec<Found>, foreign, is_listed: bool| {
            others += foreign;
            let decode = |found: Found| {
                if !is_listed && open_file(&*self.chunks.store().store, &found.key)?.is_none() {
                    return Ok(None);
                }
                let decoded = self.decoded(&found);
                let bytes = decoded.map_err(|error| error.in_file(found.key.as_str()))?;
                progress(bytes);
                Ok(Some((bytes, ())))
            };
            let threads = self.chunks.resources().threads;
            report.check(threads, files.into_iter(), decode, |_, ()| ());
            Ok(())
        };
        let checked = self.for_each_file(&mut |files, foreign| check(files, foreign, true));
        let checked = match checked {
            Err(error) if error.is_beyond_store() => {
                self.for_each_position(error, &mut |files| check(files, 0, false))
            }
            checked => checked,
        };
        report.damages.extend(checked.err());
        if others > 0 {
            let message = format!("{others} other files or folders, not part of the array");
            report.warnings.push(if *self.folder() == Key::root() {
                message
            } else {
                format!("{}: {message}", self.folder())
            });
        }
        report
    }

    /// Files with chunks, their bytes, and other files, without decoding anything.
    ///
    /// # Errors
    /// Returns any I/O error.
    pub fn survey(&self) -> Result<Survey> {
        let mut survey = Survey::default();
        self.for_each_file(&mut |files, foreign| {
            survey.foreign += foreign;
            for found in files.iter().filter(|found| found.is_file) {
                let file = open_file(&*self.chunks.store().store, &found.key)?;
                survey.chunks += 1;
                survey.stored_bytes += file.map_or(Ok(0), |file| file.size().reading())?;
            }
            Ok(())
        })?;
        Ok(survey)
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

    /// Passes on all files that the shape may have, for a store without listings. Too many to ask for are the error of the listing.
    fn for_each_position(
        &self,
        unlisted: Error,
        take: &mut dyn FnMut(Vec<Found>) -> Result<()>,
    ) -> Result<()> {
        let files = &self.chunks.store().files;
        if files.count().is_none_or(|count| count > MAX_ASKED) {
            return Err(unlisted);
        }
        let mut positions = files.positions(&files.whole());
        loop {
            let found = positions.by_ref().take(MAX_FILES).map(|at| {
                let key = self.chunks.store().key(&at)?;
                Ok(Found {
                    at,
                    key,
                    is_file: true,
                })
            });
            let found = found.collect::<Result<Vec<_>>>()?;
            if found.is_empty() {
                return Ok(());
            }
            take(found)?;
        }
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
