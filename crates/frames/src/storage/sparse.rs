//! [`SparseStorage`]: a sparse frame in a directory.
//!
//! ```text
//!  chunks.b2frame    header | index | trailer
//!  00000000.chunk    a Blosc chunk; the index refers to it by its number
//!  0000002A.chunk    another one
//! ```

use super::{FrameStorage, Origin, StoredChunk};
use crate::error::read_only;
use crate::meta::FrameMeta;
use crate::wire::{ChunkPlace, chunk_file_name, chunk_number};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Code, Error, Result};
use bloscpack_storage::{Access, Entry, EntryKind, JournaledStore, Key, ReadAt};
use std::collections::BTreeSet;
use std::io;

/// The file in the directory of a sparse frame that contains header, index and trailer.
pub const METADATA_FILE: &str = "chunks.b2frame";

/// The directory of a sparse frame.
///
/// New chunks get new files; the commit that drops a chunk removes its file. I/O errors name files relative to the directory.
pub(crate) struct SparseStorage {
    root: JournaledStore,
    access: Access,
    /// The number of the next new chunk file, larger than all existing numbers.
    next: u64,
    /// Bytes of all chunk files.
    section_len: u64,
    /// Chunk files written since the last commit.
    fresh: BTreeSet<u64>,
    /// Chunk files that the next commit removes.
    gone: BTreeSet<u64>,
}

impl SparseStorage {
    /// The storage for a directory that contains the frame with this metadata. For writing, lists the directory.
    pub(crate) fn new(root: JournaledStore, access: Access, meta: &FrameMeta) -> Result<Self> {
        let mut storage = Self {
            root,
            access,
            next: 0,
            section_len: meta.header.section_len,
            fresh: BTreeSet::new(),
            gone: BTreeSet::new(),
        };
        if access == Access::Write {
            // The directory may contain chunk files that the index does not refer to. Their numbers are not used again.
            let entries = storage.list()?;
            let names = entries.iter().filter_map(|entry| entry.name.to_str());
            // Longer numbers are not names of chunk files.
            let is_number = |number: &u64| u32::try_from(*number).is_ok();
            let last = names.filter_map(chunk_number).filter(is_number).max();
            storage.next = last.map_or(0, |last| last + 1);
        }
        Ok(storage)
    }

    /// The key of the chunk file with this number.
    fn key(number: u64) -> Result<Key> {
        Ok(Key::root().join(&chunk_file_name(number))?)
    }

    /// Adds the side to an error of an operation on the directory.
    fn io<T>(&self, done: std::result::Result<T, impl Into<Error>>) -> Result<T> {
        Origin::of(self.access, None).io(done)
    }

    /// Adds the side and the name of the file to an error of an operation on it.
    fn io_at<T>(&self, key: &Key, done: io::Result<T>) -> Result<T> {
        done.or_else(|error| Origin::of(self.access, Some(key)).io(Err(error)))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        self.io(self.root.list(&Key::root()))
    }

    /// Refuses changes with [`Code::ReadOnly`] if the frame was opened for reading.
    fn check_writable(&self) -> Result<()> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(read_only()),
        }
    }
}

impl FrameStorage for SparseStorage {
    /// Opens the file of the chunk. A missing one is [`Code::MissingFile`], with its name.
    fn chunk(&self, number: u64, at: u64) -> Result<StoredChunk<'_>> {
        let key = Self::key(at)?;
        match self.root.read(&key) {
            Ok(object) => StoredChunk::alone(number, object, (key, self.access)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let message = format!("chunk {number}: its file is missing");
                Err(Error::new(Code::MissingFile, message).in_file(&key))
            }
            Err(error) => self.io_at(&key, Err(error)),
        }
    }

    fn will_read(&self, chunks: &[(u64, u64)]) {
        let keys = chunks.iter().filter_map(|(at, _)| Self::key(*at).ok());
        self.root.will_read(&keys.collect::<Vec<_>>());
    }

    fn file(&self) -> Option<&dyn ReadAt> {
        None
    }

    /// Creates a chunk file with the next number. It is visible to others after the commit.
    fn put(&mut self, chunk: &[u8]) -> Result<u64> {
        self.check_writable()?;
        let number = self.next;
        // A file name holds eight hexadecimal digits.
        if u32::try_from(number).is_err() {
            return Err(Error::usage("a sparse frame has at most 2^32 chunk files"));
        }
        let key = Self::key(number)?;
        self.io_at(&key, self.root.put(&key, chunk))?;
        self.next = number + 1;
        self.fresh.insert(number);
        self.section_len += to_u64(chunk.len());
        Ok(number)
    }

    /// Removes a file that is not committed yet at once, and all others with the commit.
    fn discard(&mut self, at: u64, len: u64) -> Result<()> {
        // In a damaged frame, the header may give fewer bytes than the chunks have.
        self.section_len = self.section_len.saturating_sub(len);
        if self.fresh.remove(&at) {
            let key = Self::key(at)?;
            return self.io_at(&key, self.root.remove(&key));
        }
        self.gone.insert(at);
        Ok(())
    }

    /// Removes the files of discarded chunks, and replaces the metadata file, in one change of the directory.
    fn commit(&mut self, meta: &mut FrameMeta) -> Result<()> {
        self.check_writable()?;
        let needed: BTreeSet<u64> = stored(meta).collect();
        for number in self.gone.difference(&needed) {
            let key = Self::key(*number)?;
            if self.io_at(&key, self.root.kind(&key))? == Some(EntryKind::File) {
                self.io_at(&key, self.root.remove(&key))?;
            }
        }
        meta.header.section_len = self.section_len;
        let end = meta.encoded_end()?;
        meta.header.frame_len = meta.header_len() + to_u64(end.len());
        let mut bytes = meta.header.encode()?;
        bytes.extend_from_slice(&end);
        let key = Key::root().join(METADATA_FILE)?;
        self.io_at(&key, self.root.put(&key, &bytes))?;
        self.io(self.root.commit_counts(&[key], false))?;
        self.fresh.clear();
        self.gone.clear();
        Ok(())
    }

    fn is_writable(&self) -> bool {
        self.access == Access::Write
    }

    fn unused(&self, meta: &FrameMeta) -> Result<Vec<String>> {
        let needed: BTreeSet<u64> = stored(meta).collect();
        let mut unused = Vec::new();
        for entry in self.list()? {
            let name = entry.name.to_string_lossy().into_owned();
            match chunk_number(&name) {
                _ if name == METADATA_FILE => {}
                Some(number) if needed.contains(&number) => {}
                Some(_) => unused.push(format!("{name}: chunk file that the frame does not use")),
                None => unused.push(format!("{name}: not part of the frame")),
            }
        }
        Ok(unused)
    }
}

/// The numbers of the chunk files that the index refers to.
fn stored(meta: &FrameMeta) -> impl Iterator<Item = u64> {
    meta.places.iter().filter_map(|place| match place {
        ChunkPlace::At(at) => Some(*at),
        _ => None,
    })
}
