//! Appends rows to an array in a bucket, or sets rows in one superchunk (a file in its `data/` folder).
//!
//! ```text
//!  meta/sizes, old numbers and a mark    every writer that has seen an earlier version now fails
//!  data/__N.blp, several at once         readers ignore chunks after the last row; the last counted one keeps its rows
//!  meta/sizes, new numbers               the new rows are visible
//! ```

use crate::conflict::ChangedByAnotherWriter;
use crate::error::Failure;
use crate::overlay::{JOURNALS, Overlay, is_own};
use crate::publish::{Content, Put, marked};
use bloscpack::Options;
use bloscpack::storage::{Entry, EntryKind, Key, ReadAt, Store};
use bloscpack_open::datasets::{CArray, Dataset, DatasetLayout};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The file with the number of rows, and its maximum length.
const COUNT: &str = "meta/sizes";
/// Maximum length of that file.
const MAX_COUNT: usize = 1 << 20;

/// The error for a change of more than one object.
pub(crate) fn refused(name: &str, what: &str) -> Failure {
    let hint = "a bucket changes one object at a time; write the dataset anew under another URL, or change a copy on the disk and upload that";
    Failure::new(ErrorKind::Unsupported, format!("{name}: {what} ({hint})"))
}

/// The steps that append rows, if these objects do that.
pub(crate) fn steps(editor: &Arc<Overlay>, mut puts: Vec<Put>) -> Result<Vec<Vec<Put>>, Failure> {
    let name = &editor.place.name;
    let count = puts.iter().position(|put| put.path == COUNT);
    let Some(count) = count.map(|at| puts.remove(at)) else {
        return Err(refused(
            name,
            "this changes several objects, and not only the number of rows",
        ));
    };
    if puts.iter().any(|put| number_of(&put.path).is_none()) {
        return Err(refused(
            name,
            "only rows can be appended, and only to an array: this changes other objects, too",
        ));
    }
    if let Change::OfOneObject = check_rows(editor, &puts)? {
        // The number of rows stays the same. Readers ignore the number of bytes.
        return Ok(vec![vec![count], puts]);
    }
    let old = read(&*View::old(editor).open(&Key::parse(COUNT)?)?)?;
    let mark = marked(&old, &fresh_mark());
    let mark = mark.ok_or_else(|| {
        refused(
            name,
            "the file with the number of rows is not that of bcolz",
        )
    })?;
    let claim = Put {
        content: Content::Bytes(mark),
        ..count.clone()
    };
    Ok(vec![vec![claim], puts, vec![count]])
}

/// A change that can be made by requests for one object each.
enum Change {
    /// Existing rows in one superchunk.
    OfOneObject,
    /// New rows.
    Append,
}

/// Refuses a change that readers could see in part: of existing rows, or in a layout with several chunks in a
/// file.
fn check_rows(editor: &Arc<Overlay>, puts: &[Put]) -> Result<Change, Failure> {
    let name = &editor.place.name;
    let failed = |error: bloscpack::Error| {
        if ChangedByAnotherWriter::is_cause(&error) {
            Failure::conflict(name)
        } else {
            Failure::new(ErrorKind::InvalidData, format!("{name}: {error}"))
        }
    };
    let open = |store: View| {
        let options = Options::new().threads(1).cache(0);
        Dataset::open_in(store, &options).map_err(failed)
    };
    let (old, new) = (open(View::old(editor))?, open(View::new(editor))?);
    let (Dataset::Array(old), Dataset::Array(new)) = (old, new) else {
        return Err(refused(
            name,
            "rows of a table are in an object for each column",
        ));
    };
    if !matches!(new.layout(), DatasetLayout::Bcolz | DatasetLayout::Blz) {
        return Err(refused(
            name,
            &format!("nothing can be appended in the layout {}", new.layout()),
        ));
    }
    if new.rows() < old.rows() {
        return Err(refused(
            name,
            "rows cannot be removed from an array in a bucket",
        ));
    }
    if new.rows() == old.rows() && puts.len() == 1 {
        return Ok(Change::OfOneObject);
    }
    let chunk = new.chunk_shape().first().copied().unwrap_or(1);
    for put in puts.iter().filter(|put| put.replaces.is_some()) {
        let first = number_of(&put.path).and_then(|number| number.checked_mul(chunk));
        let first = first.unwrap_or(u64::MAX).min(old.rows());
        let rows = first..first.saturating_add(chunk).min(old.rows());
        let read = |array: &CArray| array.read_rows(rows.clone()).map_err(failed);
        if read(&old)? != read(&new)? {
            return Err(refused(
                name,
                "rows are changed and others appended at once: flush in between",
            ));
        }
    }
    Ok(Change::Append)
}

/// The number of a superchunk.
fn number_of(path: &str) -> Option<u64> {
    let name = path.strip_prefix("data/__")?;
    name.split_once('.')?.0.parse().ok()
}

fn read(object: &dyn ReadAt) -> io::Result<Vec<u8>> {
    let size = usize::try_from(object.size()?).ok();
    let size = size.filter(|size| *size <= MAX_COUNT);
    let mut bytes = vec![0; size.ok_or(ErrorKind::FileTooLarge)?];
    object.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

/// A text that no other writer uses.
fn fresh_mark() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let time = time.map_or(0, |time| time.as_nanos());
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), time);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{time:x}-{random:x}-{number:x}")
}

/// A dataset before or after the change, for reading.
#[derive(Debug)]
struct View {
    editor: Arc<Overlay>,
    is_old: bool,
}

impl View {
    fn old(editor: &Arc<Overlay>) -> Self {
        let editor = Arc::clone(editor);
        let is_old = true;
        Self { editor, is_old }
    }

    fn new(editor: &Arc<Overlay>) -> Self {
        let editor = Arc::clone(editor);
        let is_old = false;
        Self { editor, is_old }
    }
}

impl Store for View {
    fn open(&self, key: &Key) -> io::Result<Box<dyn ReadAt>> {
        match self.is_old {
            _ if is_own(key) => Err(ErrorKind::NotFound.into()),
            true => self.editor.open_old(key),
            false => self.editor.open(key),
        }
    }

    fn list(&self, folder: &Key) -> io::Result<Vec<Entry>> {
        let mut entries = self.editor.list(folder)?;
        // Hide the journal of the change that is being made.
        entries.retain(|entry| entry.name.to_str().is_none_or(|name| name != JOURNALS));
        Ok(entries)
    }

    fn kind(&self, key: &Key) -> io::Result<Option<EntryKind>> {
        if is_own(key) {
            Ok(None)
        } else {
            self.editor.kind(key)
        }
    }
}
