//! [`Dataset::verify`]: reads and checks every chunk.

use crate::array_storage::{ArrayStorage, Naming};
use crate::carray::CArray;
use crate::ctable::CTable;
use crate::dataset::Dataset;
use bloscpack_array::Report;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::EntryKind;

impl Dataset {
    /// Reads and decompresses every chunk, on several threads, and reports all damage.
    ///
    /// Also checked are the digests of chunks (in the layouts of the documents) and of files (in a ZIP archive), and whether
    /// the columns of a table have equally many rows. Files that do not belong to the dataset, uncounted rows and the warnings
    /// of opening are reported as warnings. Elements that are Python objects are not decompressed.
    ///
    /// `progress` is called with the uncompressed bytes of each sound chunk, from any thread. The function itself does not
    /// fail: I/O errors are in the report, too.
    ///
    /// ```
    /// # testkit::enter_testdata();
    /// use bloscpack_datasets::Dataset;
    /// let report = Dataset::open("testdata/datasets/bcolz-legacy/v012_trimmed_to_boundary_stale_file")?.verify(|_| {});
    /// assert!(report.is_sound());
    /// assert!(report.warnings[0].contains("stale"));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> Report {
        let mut report = Report::default();
        match self {
            Self::Array(array) => return array.verify(progress),
            Self::Table(table) => {
                report.warnings.extend_from_slice(table.warnings());
                for name in table.names() {
                    match table.column(name) {
                        Ok(column) => column.verify_into(&mut report, &progress),
                        Err(error) => report.damages.push(error),
                    }
                }
                report_uneven(table, &mut report);
                report.damages.extend(table.handle().verify_files());
            }
        }
        report
    }
}

/// Reports columns with more rows than the shortest one.
fn report_uneven(table: &CTable, report: &mut Report) {
    let Ok(expected) = table.rows() else { return };
    for name in table.names() {
        if let Ok(column) = table.column(name)
            && column.rows() != expected
        {
            let found = column.rows();
            let message = format!("the column has {found} rows, others have {expected}");
            let error = Error::new(Code::Shape, message).with_hint("repair the table");
            report.damages.push(error.in_file(name));
        }
    }
}

impl CArray {
    /// Reads and decompresses every chunk, and reports all damage; see [`Dataset::verify`].
    pub fn verify(&self, progress: impl Fn(u64) + Sync) -> Report {
        let mut report = Report::default();
        self.verify_into(&mut report, &progress);
        report.damages.extend(self.handle().verify_files());
        report
    }

    fn verify_into(&self, report: &mut Report, progress: &(impl Fn(u64) + Sync)) {
        report.warnings.extend_from_slice(self.warnings());
        let storage = self.storage();
        if let Err(error) = storage
            .stage()
            .and_then(|()| self.verify_chunks(report, progress))
        {
            report.damages.push(error);
            return;
        }
        if let Err(error) = storage.report_strangers(|warning| report.warnings.push(warning)) {
            report.damages.push(error);
        }
    }

    fn verify_chunks(&self, report: &mut Report, progress: &(impl Fn(u64) + Sync)) -> Result<()> {
        let storage = self.storage();
        let numbers = 0..in_memory(self.chunks())?;
        report.check(
            storage.resources().threads,
            numbers,
            |chunk| {
                let (bytes, warnings) = storage.check_chunk(to_u64(chunk))?;
                progress(bytes);
                Ok(Some((bytes, warnings)))
            },
            |report, warnings| report.warnings.extend(warnings),
        );
        Ok(())
    }
}

impl ArrayStorage {
    /// Reads and decompresses a chunk. Returns its uncompressed bytes, and warnings.
    fn check_chunk(&self, chunk: u64) -> Result<(u64, Vec<String>)> {
        let stored = self.stored(chunk)?;
        let bytes = u64::from(stored.header.nbytes);
        let path = self.key(chunk / self.spec().chunks_per_file.get())?;
        let mut warnings = Vec::new();
        if self.spec().container.is_single() && stored.unused > 0 {
            let len = stored.unused;
            warnings.push(format!("{path}: {len} unexpected bytes follow the chunk"));
        }
        if self.spec().dtype.has_object() {
            return Ok((bytes, warnings));
        }
        // All data is decompressed: blocks with uncounted rows have to be sound, too.
        self.decompressed(chunk, &stored)?;
        if let Some(more) = bytes.checked_sub(self.grid().bytes_of(chunk))
            && more > 0
        {
            warnings.push(format!(
                "{path}: {more} bytes of rows that were never flushed follow the last row"
            ));
        }
        Ok((bytes, warnings))
    }

    /// Reports entries in the folder of superchunks that no row needs.
    fn report_strangers(&self, mut report: impl FnMut(String)) -> Result<()> {
        let (spec, files) = (self.spec(), self.file_count());
        let Some(entries) = self.list()? else {
            let folder = &spec.folder;
            report(format!(
                "{folder}: the store has no listing: files that no row needs were not looked for"
            ));
            return Ok(());
        };
        for entry in entries {
            let name = entry.name.to_string_lossy();
            let number = entry
                .name
                .to_str()
                .and_then(|name| spec.naming.number(name));
            let message = match (number, entry.kind) {
                (Some(number), EntryKind::File) if number < files => continue,
                (Some(_), EntryKind::File) => "stale superchunk, which no row needs",
                _ if name.starts_with("._") => "file of another operating system",
                // Nested columns are folders inside other columns.
                (_, EntryKind::Folder) if spec.naming == Naming::FromOne => continue,
                _ => "not part of the dataset",
            };
            report(format!("{}/{name}: {message}", spec.folder));
        }
        Ok(())
    }
}
