//! An SQLite table with the number of a record as its key.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::Store;
use crate::Result;
use crate::data::Records;

/// Writes a new database: all rows by one prepared statement in one transaction, without a journal, and
/// like the others without waiting for the disk.
pub fn write(records: &Records, path: &Path) -> Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.transaction()?;
    transaction.execute(
        "CREATE TABLE records (id INTEGER PRIMARY KEY, record BLOB)",
        (),
    )?;
    let mut insert = transaction.prepare("INSERT INTO records VALUES (?1, ?2)")?;
    for (number, record) in records.iter().enumerate() {
        insert.execute((number as i64, record))?;
    }
    drop(insert);
    Ok(transaction.commit()?)
}

/// How pages are brought into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Through SQLite's default cache of 2 MB.
    Default,
    /// Through a cache of so many KiB.
    Cache(usize),
    /// The file is mapped.
    Mapped,
}

/// A database open for reading, within one transaction, so that no get pays for a lock.
pub struct Reader(Connection);

impl Reader {
    pub fn open(path: &Path, pages: Pages) -> Result<Self> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match pages {
            Pages::Default => {}
            // Negative numbers are KiB.
            Pages::Cache(kib) => connection.pragma_update(None, "cache_size", -(kib as i64))?,
            Pages::Mapped => connection.pragma_update(None, "mmap_size", 1_i64 << 30)?,
        }
        connection.execute_batch("BEGIN")?;
        Ok(Self(connection))
    }
}

impl Store for Reader {
    fn scan(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut select = self
            .0
            .prepare_cached("SELECT record FROM records ORDER BY id")?;
        let mut rows = select.query(())?;
        while let Some(row) = rows.next()? {
            each(row.get_ref(0)?.as_bytes()?);
        }
        Ok(())
    }

    fn gets(&mut self, numbers: &[usize], each: &mut dyn FnMut(&[u8])) -> Result<()> {
        let mut select = self
            .0
            .prepare_cached("SELECT record FROM records WHERE id = ?1")?;
        for &number in numbers {
            let mut rows = select.query([number as i64])?;
            let row = rows.next()?.ok_or("no such row")?;
            each(row.get_ref(0)?.as_bytes()?);
        }
        Ok(())
    }
}
