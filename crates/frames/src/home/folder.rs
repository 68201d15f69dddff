//! [`FolderHome`]: a sparse frame in a directory.

use super::{Home, Stored};
use crate::outline::Outline;
use crate::wire::{ChunkPlace, chunk_file_name, chunk_number};
use blosc1::Fault;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Access, EntryKind, JournaledStore, Key};
use std::collections::BTreeSet;

/// The file with all but the chunks.
pub(crate) const OUTLINE: &str = "chunks.b2frame";

/// A directory with a file for each chunk, and one that tells their order.
pub(crate) struct FolderHome {
    root: JournaledStore,
    access: Access,
    /// The number that the next chunk gets.
    next: u64,
    /// Bytes of all chunks that there are.
    section_len: u64,
    /// What was put since the last commit.
    fresh: BTreeSet<u64>,
    /// What is to be removed with the next one.
    gone: BTreeSet<u64>,
}

impl FolderHome {
    pub(crate) fn new(root: JournaledStore, access: Access, outline: &Outline) -> Result<Self> {
        let mut home = Self {
            root,
            access,
            next: 0,
            section_len: outline.header.section_len,
            fresh: BTreeSet::new(),
            gone: BTreeSet::new(),
        };
        if access == Access::Write {
            // Chunks that no index tells of may lie there, too: no number is given twice.
            let entries = home.root.list(&Key::root())?;
            let names = entries.iter().filter_map(|entry| entry.name.to_str());
            // Longer names are nobody's chunks.
            let is_number = |number: &u64| u32::try_from(*number).is_ok();
            let last = names.filter_map(chunk_number).filter(is_number).max();
            home.next = last.map_or(0, |last| last.saturating_add(1));
        }
        Ok(home)
    }

    fn key(number: u64) -> Result<Key> {
        Ok(Key::root().join(&chunk_file_name(number))?)
    }

    fn check_writable(&self) -> Result<()> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(Error::usage(
                "this frame was opened for reading only: open it with `edit` to change it",
            )),
        }
    }
}

impl Home for FolderHome {
    fn chunk(&self, at: u64) -> Result<Stored<'_>> {
        let key = Self::key(at)?;
        let object = self.root.read(&key).map_err(|error| {
            let error = match error.kind() {
                std::io::ErrorKind::NotFound => crate::error::frame(
                    Fault::Damaged,
                    "the index tells of this chunk, but it is not there",
                ),
                _ => error.into(),
            };
            error.in_file(&key)
        })?;
        Ok(Stored::whole(object)?)
    }

    fn put(&mut self, chunk: &[u8]) -> Result<u64> {
        self.check_writable()?;
        let number = self.next;
        // The names of chunks have eight digits, and their numbers 32 bits.
        if u32::try_from(number).is_err() {
            return Err(Error::usage("a sparse frame has at most 2^32 chunks"));
        }
        self.root.put(&Self::key(number)?, chunk)?;
        self.next = number.saturating_add(1);
        self.fresh.insert(number);
        let len = u64::try_from(chunk.len()).unwrap_or(u64::MAX);
        self.section_len = self.section_len.saturating_add(len);
        Ok(number)
    }

    fn discard(&mut self, at: u64, len: u64) -> Result<()> {
        self.section_len = self.section_len.saturating_sub(len);
        if self.fresh.remove(&at) {
            return Ok(self.root.remove(&Self::key(at)?)?);
        }
        self.gone.insert(at);
        Ok(())
    }

    fn commit(&mut self, outline: &mut Outline) -> Result<()> {
        self.check_writable()?;
        let needed: BTreeSet<u64> = stored(outline).collect();
        for number in &self.gone {
            let key = Self::key(*number)?;
            if !needed.contains(number) && self.root.kind(&key)? == Some(EntryKind::File) {
                self.root.remove(&key)?;
            }
        }
        outline.header.section_len = self.section_len;
        let back = outline.back()?;
        let len = outline.header_len();
        outline.header.frame_len =
            len.saturating_add(u64::try_from(back.len()).unwrap_or(u64::MAX));
        let mut bytes = outline.header.encode()?;
        bytes.extend_from_slice(&back);
        let key = Key::root().join(OUTLINE)?;
        self.root.put(&key, &bytes)?;
        self.root.commit_counts(&[key], false)?;
        self.fresh.clear();
        self.gone.clear();
        Ok(())
    }

    fn is_writable(&self) -> bool {
        self.access == Access::Write
    }

    fn strangers(&self, outline: &Outline) -> Result<Vec<String>> {
        let needed: BTreeSet<u64> = stored(outline).collect();
        let mut strangers = Vec::new();
        for entry in self.root.list(&Key::root())? {
            let name = entry.name.to_string_lossy().into_owned();
            match chunk_number(&name) {
                _ if name == OUTLINE => {}
                Some(number) if needed.contains(&number) => {}
                Some(_) => strangers.push(format!("{name}: a chunk that the frame does not need")),
                None => strangers.push(format!("{name}: nothing that belongs to a frame")),
            }
        }
        Ok(strangers)
    }
}

fn stored(outline: &Outline) -> impl Iterator<Item = u64> {
    outline.places.iter().filter_map(|place| match place {
        ChunkPlace::At(at) => Some(*at),
        _ => None,
    })
}
