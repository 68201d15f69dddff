//! [`ItemsWriter`]: values of varying length, in batches.

use super::Settings;
use super::meta::layer;
use crate::FrameStore;
use crate::error::unsupported;
use crate::table::{BATCH_ROWS, BATCHES, Items, LENGTHS};
use bloscpack::Options;
use bloscpack_array::msgpack::Value;
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_frames::{NdArray, VaryingFrame};
use std::path::{Path, PathBuf};

/// The bytes of MessagePack after which a batch ends, even if it has fewer items than python-blosc2 puts into one.
const MOST_BYTES: usize = 8 << 20;
/// The first byte of a list in MessagePack whose length has 32 bits.
const LIST: u8 = 0xdd;

/// Appends items to a frame. Up to one batch is in memory.
pub(super) struct ItemsWriter {
    path: PathBuf,
    frame: VaryingFrame,
    /// The items of each batch in the frame.
    lens: Vec<u64>,
    /// Items of a block.
    per_block: usize,
    /// The next batch: its items in MessagePack, and where each of them ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ItemsWriter {
    /// Creates a frame without items, and the folders above it. The metalayer `role` says what the items are.
    pub fn create(path: &Path, role: (&str, &Value), settings: &Settings) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let text = |text: &str| Value::Text(text.to_owned());
        let batches = [
            ("version", Value::Int(1)),
            ("serializer", text("msgpack")),
            ("items_per_block", Value::UInt(to_u64(BATCH_ROWS))),
            ("arrow_schema", Value::Nil),
        ];
        let batches = batches.map(|(key, value)| (text(key), value)).to_vec();
        let frame = settings(NdArray::builder(&[0], 1)).into_frame();
        let frame = frame
            .metalayer(role.0, layer(role.1)?)?
            .metalayer(BATCHES, layer(&Value::Map(batches))?)?;
        Ok(Self::of(path, frame.create_varying(path)?, BATCH_ROWS))
    }

    /// Opens the frame in `file`, which is at `path` in a store, and removes all items after the first `items`.
    pub fn edit(
        tree: &FrameStore,
        path: &str,
        file: &Path,
        items: u64,
        options: &Options,
    ) -> Result<Self> {
        let mut old = Items::open(tree, path)?;
        let what = || unsupported(path, "adding to objects that have a chunk each");
        let (lens, rest) = old.batches_until(items)?.ok_or_else(what)?;
        let rest = old.read(&(items - rest..items))?;
        let per_block = old.per_block().unwrap_or(usize::MAX);
        let mut frame = VaryingFrame::edit(file, options)?;
        frame.truncate(to_u64(lens.len()))?;
        let mut writer = Self::of(file, frame, per_block);
        writer.lens = lens;
        rest.iter().try_for_each(|item| writer.push(item))?;
        Ok(writer)
    }

    fn of(path: &Path, frame: VaryingFrame, per_block: usize) -> Self {
        Self {
            path: path.to_owned(),
            frame,
            lens: Vec::new(),
            per_block,
            bytes: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Appends an item.
    pub fn push(&mut self, item: &Value) -> Result<()> {
        item.encode(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        if self.ends.len() >= BATCH_ROWS || self.bytes.len() >= MOST_BYTES {
            self.write()?;
        }
        Ok(())
    }

    /// Appends the items in memory to the frame, as a batch. A block is the list of its items.
    fn write(&mut self) -> Result<()> {
        let bug = || Error::bug("an item outside of its batch");
        let (mut blocks, mut start) = (Vec::new(), 0);
        for ends in self.ends.chunks(self.per_block.max(1)) {
            let end = ends.last().copied().ok_or_else(bug)?;
            let count = u32::try_from(ends.len()).map_err(|_| bug())?;
            let items = self.bytes.get(start..end).ok_or_else(bug)?;
            blocks.push([&[LIST], &count.to_be_bytes()[..], items].concat());
            start = end;
        }
        let blocks: Vec<_> = blocks.iter().map(Vec::as_slice).collect();
        let appended = self.frame.append(&blocks);
        appended.map_err(|error| error.in_file(&self.path))?;
        self.lens.push(to_u64(self.ends.len()));
        (self.bytes, self.ends) = (Vec::new(), Vec::new());
        Ok(())
    }

    /// Appends the items in memory to the frame, and flushes it.
    pub fn finish(mut self) -> Result<()> {
        if !self.ends.is_empty() {
            self.write()?;
        }
        let lens = self.lens.iter().map(|len| Value::UInt(*len)).collect();
        let key = Value::Text("batch_lengths".to_owned());
        let lens = Value::Map(vec![(key, Value::List(lens))]);
        self.frame.set_vlmetalayer(LENGTHS, &layer(&lens)?)?;
        let flushed = self.frame.flush();
        flushed.map_err(|error| error.in_file(&self.path))
    }
}
