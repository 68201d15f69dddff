//! Copies a frame to the bytes of a contiguous one.

use super::Frame;
use super::builder::{IN_MEMORY, with_lengths};
use crate::storage::{FileStorage, Origin, check_apart};
use crate::wire::ChunkPlace;
use crate::wire::kind::FrameKind;
use bloscpack::Options;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Folder, JournaledFile, Memory, WriteAt};
use std::collections::HashMap;
use std::ffi::OsStr;

impl Frame {
    /// The frame as bytes of a contiguous frame, with all changes, flushed or not. Works for sparse frames, too.
    ///
    /// Chunks are copied without decompressing them; dead bytes are left out. Needs memory for the whole result.
    ///
    /// # Errors
    /// Returns the errors of [`chunk`](Self::chunk), and [`Code::Chunk`](bloscpack_error::Code::Chunk) if chunks overlap: the
    /// copy could be arbitrarily larger than the frame.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check_state()?;
        let memory = Memory::new();
        let mut copy = self.empty_copy(&memory)?;
        // Each stored chunk is copied once. Otherwise an index with many entries for one chunk would turn a few bytes into
        // gigabytes.
        let (mut copied, mut used) = (HashMap::new(), 0);
        for number in 0..self.chunks() {
            let len = self.chunk_len(number)?;
            let place = match self.stored_place(number)? {
                ChunkPlace::At(at) => ChunkPlace::At(match copied.get(&(at, len)) {
                    Some(at) => *at,
                    None => {
                        let chunk = self.compressed_chunk(number)?;
                        used += to_u64(chunk.len());
                        self.check_used(number, at, used)?;
                        let new = copy.storage.put(&chunk)?;
                        copied.insert((at, len), new);
                        new
                    }
                }),
                special => special,
            };
            copy.insert_place(number, place, len.into())?;
        }
        copy.changed = true;
        copy.flush()?;
        drop(copy);
        memory
            .bytes(IN_MEMORY)
            .ok_or_else(|| Error::bug("the copy in memory has disappeared"))
    }

    /// Refuses chunks of a contiguous frame that together use more bytes than its chunk section: they overlap.
    fn check_used(&self, number: u64, at: u64, used: u64) -> Result<()> {
        if self.kind() == FrameKind::Sparse {
            return Ok(());
        }
        let room = self.storage.chunk(number, at)?.room();
        check_apart(used, at + room)
    }

    /// A contiguous frame in memory with the same metadata and without chunks.
    fn empty_copy(&self, memory: &Memory) -> Result<Self> {
        let mut meta = self.meta.clone();
        meta.header.kind = FrameKind::Contiguous;
        meta.header.content_len = 0;
        meta.header.section_len = 0;
        meta.places.clear();
        // It belongs to other bytes.
        meta.trailer.fingerprint = None;
        let (meta, [mut bytes, end]) = with_lengths(meta)?;
        bytes.extend_from_slice(&end);
        let name = OsStr::new(IN_MEMORY);
        let origin = Origin::target(None);
        let file = origin.io(memory.create(name, None))?;
        origin.io(file.write_all_at(0, &bytes))?;
        drop(file);
        let options = Options::new()
            .threads(self.coder.threads)
            .limits(self.coder.limits);
        let held = origin.io(JournaledFile::open(
            memory.clone(),
            name,
            &options.lock_timeout,
        ))?;
        let storage = FileStorage::new(held, origin, &meta)?;
        Ok(Self::new(Box::new(storage), meta, &options))
    }
}
