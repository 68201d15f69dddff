//! [`ZarrArray::verify`]: decodes every stored chunk.

use crate::array::ZarrArray;
use crate::read::open_file;
use bloscpack_array::Report;
use bloscpack_error::{Error, IoSide as _, Result, Side};
use bloscpack_storage::{EntryKind, Key};

/// The number and size of the files of an array. [`ZarrArray::survey`] counts them.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// The number of chunk files, each a chunk or a shard.
    pub chunks: u64,
    /// Bytes of these files.
    pub stored_bytes: u64,
    /// Files and folders that are not part of the array.
    pub foreign: u64,
}

/// Files that are passed on at once.
const MAX_FILES: usize = 1 << 10;

/// The maximum number of files that are asked for if they cannot be listed.
const MAX_ASKED: u64 = 1 << 20;

/// An entry with the name of a chunk file, or of a folder of chunk files.
pub(crate) struct Found {
    pub at: Vec<u64>,
    pub key: Key,
    is_file: bool,
}

impl ZarrArray {
    /// Decodes every stored chunk like [`verify_chunks`](Self::verify_chunks), and compares the files of the array with
    /// checksums that the store keeps, as an archive does.
    ///
    /// ```
    /// use bloscpack::Options;
    /// use bloscpack_storage::{Key, Memory};
    /// use bloscpack_zarr::ZarrArray;
    /// use std::sync::Arc;
    /// let meta = br#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "compressor": null, "filters": null,
    ///     "fill_value": 0, "order": "C"}"#;
    /// let store = Memory::from([(".zarray", meta.to_vec()), ("0", vec![1, 2]), ("1", vec![3])]);
    /// let array = ZarrArray::open(Arc::new(store), &Key::root(), &Options::new())?;
    /// let report = array.verify(|_| ());
    /// assert_eq!((report.chunks, report.damages.len()), (1, 1)); // the second chunk is cut short
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> Report {
        let mut report = self.verify_chunks(progress);
        for error in self.chunks.store().store.verify(self.folder()) {
            report.damages.push(Error::from(error).on(Side::Source));
        }
        report
    }

    /// Decodes every stored chunk on the threads of the options. Chunks without a file are not damage: Zarr cannot tell them
    /// from chunks of the fill value. Without a checksum, a changed byte that still decodes is not detected.
    ///
    /// Only files that exist are visited, however many the shape allows. If the store cannot list files, each of up to 2^20
    /// possible files is asked for. [`Report::warnings`] counts files that are not part of the array.
    ///
    /// `progress` is called for each sound file with the bytes of its elements within the array, from any thread.
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

    /// Counts the files of the array and their bytes, without reading them.
    ///
    /// # Errors
    /// Returns any I/O error, also if the store cannot list files.
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

    /// Decodes a chunk file. Returns the bytes of its elements within the array.
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

    /// Lists the chunk files of the array, and passes them on in groups, each with the number of foreign entries found on the
    /// way.
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
                    // A link, or a file in place of a folder of chunks, hides chunks: it is reported as damage.
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

    /// Passes on the names of all possible chunk files, for a store that cannot list them. If there are too many, returns
    /// `unlisted`, the error of listing.
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

    /// The chunk with this name, or the first chunk in the folder of this name, and whether it is a folder; `None` if the array
    /// has no chunk there.
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
