//! Records in a Bloscpack file.

use std::fs::File;
use std::path::{Path, PathBuf};

use bloscpack::{IndexedRecordReader, RecordReader, RecordWriterBuilder};

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

/// A file, read without being mapped.
pub struct Reader {
    path: PathBuf,
    indexed: IndexedRecordReader<File>,
}

impl Reader {
    /// With a cache of so many bytes, or the usual one.
    pub fn open(path: &Path, cache: Option<usize>) -> Result<Self> {
        let mut options = IndexedRecordReader::builder();
        if let Some(bytes) = cache {
            options = options.cache(bytes);
        }
        Ok(Self {
            path: path.to_owned(),
            indexed: options.open(File::open(path)?)?,
        })
    }
}

impl Store for Reader {
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
