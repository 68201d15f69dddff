//! [`Dataset::verify`]: every chunk, read and compared.

use super::leaf::Leaf;
use super::superchunk::Container;
use super::{CArray, Dataset};
use crate::wire::SuperchunkOddity;
use bloscpack_dtype::boxes::to_usize;
use bloscpack_error::{Error, ErrorKind, Result};
use bloscpack_storage::{EntryKind, parallel};
use std::sync::{Mutex, PoisonError};

/// What [`Dataset::verify`] has found.
#[derive(Debug, Default)]
pub struct DatasetReport {
    /// What is damaged: each error tells its file, chunk and byte.
    pub damages: Vec<Error>,
    /// What is odd and does not keep the dataset from being read: files that nobody needs, rows that were never flushed.
    pub warnings: Vec<Oddity>,
    /// Chunks that were read.
    pub chunks: u64,
    /// Bytes of their data.
    pub bytes: u64,
}

/// Something about a dataset that is not as it should be, and can be lived with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The file or folder, below the root.
    pub path: String,
    /// What is odd about it.
    pub what: String,
}

impl DatasetReport {
    /// Whether nothing is damaged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }

    fn warn(&mut self, path: impl ToString, what: impl Into<String>) {
        self.warnings.push(Oddity {
            path: path.to_string(),
            what: what.into(),
        });
    }
}

impl Dataset {
    /// Reads and decompresses every chunk, compares the digests where there are any, and looks for what does not belong there.
    ///
    /// ```
    /// use bloscpack_datasets::Dataset;
    /// let report = Dataset::open("../../testdata/datasets/bcolz-legacy/v012_trimmed_to_boundary_stale_file")?.verify(|_| {});
    /// assert!(report.is_sound());
    /// assert!(report.warnings[0].what.contains("stale"));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// `progress` is called with the bytes of data of each chunk that was read.
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> DatasetReport {
        let mut report = DatasetReport::default();
        match self {
            Self::Array(array) => array.verify_into(&mut report, &progress),
            Self::Table(table) => {
                for (path, what) in table.notes() {
                    report.warn(path, what);
                }
                for name in table.names() {
                    match table.column(name) {
                        Ok(column) => column.verify_into(&mut report, &progress),
                        Err(error) => report.damages.push(error),
                    }
                }
                uneven(table, &mut report);
            }
        }
        report
    }
}

/// Columns of different lengths.
fn uneven(table: &super::CTable, report: &mut DatasetReport) {
    let Ok(rows) = table.rows() else { return };
    for name in table.names() {
        if let Ok(column) = table.column(name)
            && column.rows() != rows
        {
            let what = format!("the column has {} rows, others have {rows}", column.rows());
            report
                .damages
                .push(crate::error::dataset(blosc1::Fault::Damaged, what).in_file(name));
        }
    }
}

impl CArray {
    /// Reads and decompresses every chunk; see [`Dataset::verify`].
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> DatasetReport {
        let mut report = DatasetReport::default();
        self.verify_into(&mut report, &progress);
        report
    }

    fn verify_into(&self, report: &mut DatasetReport, progress: &(impl Fn(u64) + Sync)) {
        for (path, what) in self.notes() {
            report.warn(path, what);
        }
        let (leaf, chunks) = (self.leaf(), self.chunks());
        if let Err(error) = leaf.stage() {
            report.damages.push(error);
            return;
        }
        let is_object = self.dtype().has_object();
        let found = Mutex::new((0u64, 0u64, Vec::new(), Vec::new()));
        let numbers = 0..to_usize(chunks);
        let done = parallel::for_each(leaf.means().threads, numbers.into_iter(), |chunk| {
            let chunk = u64::try_from(chunk).unwrap_or(u64::MAX);
            let checked = leaf.check_chunk(chunk, is_object);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match checked {
                Ok(checked) => {
                    progress(checked.bytes);
                    found.0 = found.0.saturating_add(1);
                    found.1 = found.1.saturating_add(checked.bytes);
                    found
                        .2
                        .extend(checked.odd.into_iter().map(|odd| (chunk, odd)));
                }
                Err(error) => found.3.push((chunk, error)),
            }
            // Of a dataset whose files are all gone, the first thousand tell enough.
            match found.3.len() > MOST_DAMAGES {
                true => Err(Error::usage("enough")),
                false => Ok(()),
            }
        });
        let (read, bytes, mut odd, mut damages) =
            found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Whichever thread met them first.
        damages.sort_by_key(|(chunk, _)| *chunk);
        odd.sort_by_key(|(chunk, _)| *chunk);
        report.chunks = report.chunks.saturating_add(read);
        report.bytes = report.bytes.saturating_add(bytes);
        report
            .damages
            .extend(damages.into_iter().map(|(_, error)| error));
        report.warnings.extend(odd.into_iter().map(|(_, odd)| odd));
        // All other errors are noted, and of a chunk whose check panicked nobody knows anything.
        if let Err(error) = done
            && matches!(error.kind(), ErrorKind::Panicked)
        {
            report.damages.push(error);
        }
        if let Err(error) = leaf.strangers(|path, what| report.warn(path, what)) {
            report.damages.push(error);
        }
    }
}

/// Damages of an array after which nobody wants to know more.
const MOST_DAMAGES: usize = 1000;

/// A chunk that is sound.
struct Checked {
    bytes: u64,
    odd: Vec<Oddity>,
}

impl Leaf {
    /// Reads a chunk and decompresses all of it.
    fn check_chunk(&self, chunk: u64, is_object: bool) -> Result<Checked> {
        let stored = self.stored(chunk)?;
        let single = matches!(self.spec().container, Container::Single { .. });
        let mut odd = Vec::new();
        if single && stored.behind > 0 {
            let len = stored.behind;
            odd.push(Oddity {
                path: self.key_of(chunk),
                what: SuperchunkOddity::Trailing { len }.to_string(),
            });
        }
        if is_object {
            let bytes = stored.header.nbytes.into();
            return Ok(Checked { bytes, odd });
        }
        let (bytes, expected) = (u64::from(stored.header.nbytes), self.grid().bytes_of(chunk));
        // Blocks that a writer died over have to be sound no less.
        let mut data = vec![0; to_usize(bytes)];
        self.decompress(chunk, &stored, &mut data)?;
        if bytes > expected {
            odd.push(Oddity {
                path: self.key_of(chunk),
                what: format!(
                    "{} bytes of rows that were never flushed lie behind the last row",
                    bytes.saturating_sub(expected)
                ),
            });
        }
        Ok(Checked { bytes, odd })
    }

    fn key_of(&self, chunk: u64) -> String {
        let number = chunk / self.spec().per_file.get();
        self.key(number)
            .map_or_else(|_| String::new(), |key| key.to_string())
    }

    /// Tells of names in the folder of superchunks that are not those of needed ones.
    pub(crate) fn strangers(&self, mut tell: impl FnMut(String, String)) -> Result<()> {
        let folder = &self.spec().folder;
        let files = self.files();
        for entry in self.list()? {
            let name = entry.name.to_string_lossy();
            let path = format!("{folder}/{name}");
            match (
                entry
                    .name
                    .to_str()
                    .and_then(|name| self.spec().naming.number(name)),
                entry.kind,
            ) {
                (Some(number), EntryKind::File) if number < files => {}
                (Some(_), EntryKind::File) => {
                    tell(path, "a stale superchunk, which no row needs".to_owned())
                }
                _ if name.starts_with("._") => tell(
                    path,
                    "litter of another system, which nobody reads".to_owned(),
                ),
                // Columns lie beside superchunks in no layout, but within folders that are columns themselves.
                (_, EntryKind::Folder) if self.spec().naming == super::leaf::Naming::FromOne => {}
                _ => tell(path, "nothing that belongs to the dataset".to_owned()),
            }
        }
        Ok(())
    }
}
