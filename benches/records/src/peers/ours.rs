//! Records in a Bloscpack file.

use bloscpack::Options;
use std::fs::File;
use std::path::{Path, PathBuf};

use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriterBuilder};
use bloscpack::storage::{Map, ReadAt};

use super::Store;
use crate::Result;
use crate::data::Records;

/// Writes a new file.
pub fn write(records: &Records, path: &Path, options: RecordWriterBuilder) -> Result<()> {
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)?;
    let mut writer = options.count(records.len() as u64).write_to_file(file)?;
    for record in records.iter() {
        writer.push(record)?;
    }
    writer.finish()?;
    Ok(())
}

/// A file, read directly or mapped into memory.
pub struct Reader<S> {
    path: PathBuf,
    indexed: IndexedRecordReader<S>,
}

impl Reader<File> {
    /// Opens a file with a cache of `cache` bytes.
    pub fn open(path: &Path, cache: usize) -> Result<Self> {
        Self::of(File::open(path)?, path, cache)
    }
}

impl Reader<Map> {
    /// Maps a file into memory, with a cache of `cache` bytes.
    pub fn map(path: &Path, cache: usize) -> Result<Self> {
        Self::of(Map::open(&File::open(path)?)?, path, cache)
    }
}

impl<S: ReadAt> Reader<S> {
    fn of(source: S, path: &Path, cache: usize) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            indexed: IndexedRecordReader::with_options(source, Options::new().cache(cache))?,
        })
    }
}

impl<S: ReadAt> Store for Reader<S> {
    fn scan(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut reader = RecordReader::new(File::open(&self.path)?);
        while let Some(record) = reader.next_record()? {
            each(record);
        }
        Ok(())
    }

    fn gets(&mut self, numbers: &[usize], each: &mut dyn FnMut(&[u8])) -> Result<()> {
        for &number in numbers {
            each(&self.indexed.get(number as u64)?);
        }
        Ok(())
    }
}
