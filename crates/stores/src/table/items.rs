//! [`Items`]: values of varying length, in batches or one in each chunk.
//!
//! ```text
//!  metalayer batcharray: {version: 1, serializer: "msgpack", ..}    vlmetalayer _batch_array_metadata: {batch_lengths: [3, 2]}
//!    chunk 0:  block [a, b] | block [c]         each block is a list; together they are the batch
//!    chunk 1:  block [d, e]
//!
//!  metalayer vlarray: {version: 1, serializer: "msgpack", ..}
//!    chunk 0:  a        each chunk is one object
//! ```

use super::layer;
use crate::FrameStore;
use crate::error::{damaged, unsupported};
use bloscpack_array::msgpack::{MAX_VALUES, Value};
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Error, Result};
use bloscpack_frames::VaryingFrame;
use serde_json::Value as Json;
use std::ops::Range;

/// The metalayer of batches, and the one of objects that are a chunk each.
pub const BATCHES: &str = "batcharray";
const OBJECTS: &str = "vlarray";
/// A frame of items has one of these metalayers.
pub const METALAYERS: [&str; 2] = [BATCHES, OBJECTS];
/// The metalayer that describes the lists of a ListArray.
pub const LISTS: &str = "listarray";
/// The vlmetalayer with the lengths of batches.
pub const LENGTHS: &str = "_batch_array_metadata";

/// The items in a frame. It keeps one decoded batch in memory.
pub(crate) struct Items {
    path: String,
    frame: VaryingFrame,
    /// The number of items up to the end of each chunk; `None` if each chunk is one item.
    ends: Option<Vec<u64>>,
    /// Items of a block; `None` if a batch is one block.
    per_block: Option<usize>,
    /// The last batch that was read, with the number of its chunk.
    batch: Option<(u64, Vec<Value>)>,
}

impl Items {
    /// Opens the frame at a path, which must contain batches or objects in MessagePack.
    pub fn open(tree: &FrameStore, path: &str) -> Result<Self> {
        let frame = tree.varying(path)?;
        let layers = frame.frame().metalayers();
        let batches = layers.get(BATCHES);
        let described = batches.or_else(|| layers.get(OBJECTS));
        let described = described.ok_or_else(|| damaged(path, "neither batches nor objects"))?;
        let described = Value::decode(described).map_err(|error| error.in_part(path))?;
        let version = described.get("version").and_then(Value::as_count);
        let serializer = described.get("serializer").and_then(Value::as_text);
        if (version, serializer) != (Some(1), Some("msgpack")) {
            let serializer = serializer.unwrap_or("nothing");
            let what = format!("version {version:?} of items, serialized by {serializer}");
            return Err(unsupported(path, what));
        }
        let per_block = described.get("items_per_block").and_then(Value::as_count);
        let per_block = per_block.and_then(|items| usize::try_from(items).ok());
        let ends = match batches {
            Some(_) => Some(ends(&frame, path)?),
            None => None,
        };
        Ok(Self {
            path: path.to_owned(),
            frame,
            ends,
            per_block,
            batch: None,
        })
    }

    /// The number of items.
    pub fn len(&self) -> u64 {
        match &self.ends {
            Some(ends) => ends.last().copied().unwrap_or(0),
            None => self.frame.frame().chunks(),
        }
    }

    /// The description of the lists, as in the schema of a table; `None` if the items are not lists.
    pub fn list(&self) -> Result<Option<Json>> {
        let Some(layer) = self.frame.frame().metalayers().get(LISTS) else {
            return Ok(None);
        };
        let value = Value::decode(layer).map_err(|error| error.in_part(&self.path))?;
        let json = value
            .to_json()
            .and_then(|text| serde_json::from_str(&text).ok());
        let json =
            json.ok_or_else(|| damaged(&self.path, "the description of the lists is not JSON"))?;
        Ok(Some(json))
    }

    /// Items of a block; `None` if a batch is one block.
    pub fn per_block(&self) -> Option<usize> {
        self.per_block
    }

    /// Splits the first `items` items: the lengths of the batches they fill, and the number of items in the batch they only
    /// begin. `None` for items without batches.
    pub fn batches_until(&self, items: u64) -> Result<Option<(Vec<u64>, u64)>> {
        if items > self.len() {
            let what = format!("{} items where there are more rows", self.len());
            return Err(damaged(&self.path, what));
        }
        let Some(ends) = &self.ends else {
            return Ok(None);
        };
        let mut start = 0;
        let whole = ends.iter().take_while(|end| **end <= items);
        let lens = whole.map(|end| end - std::mem::replace(&mut start, *end));
        let lens = lens.collect();
        Ok(Some((lens, items - start)))
    }

    /// The user's attributes.
    pub fn attributes(&self) -> Result<Vec<(String, Value)>> {
        let frame = self.frame.frame();
        let names = frame.vlmetalayers().filter(|name| *name != LENGTHS);
        let pairs = names.map(|name| Ok((name.to_owned(), layer(frame, name, &self.path)?)));
        pairs.collect()
    }

    /// The items in this range.
    pub fn read(&mut self, range: &Range<u64>) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut next = range.start;
        while next < range.end {
            let (chunk, within) = self.chunk_of(next)?;
            self.load(chunk)?;
            let batch = self.batch.as_ref().map(|(_, batch)| batch.as_slice());
            let start = in_memory(within)?;
            let wanted = in_memory(range.end - next)?;
            let part = batch.unwrap_or_default().iter().skip(start).take(wanted);
            let before = items.len();
            items.extend(part.cloned());
            if items.len() == before {
                let what = format!("chunk {chunk} has no item {within}");
                return Err(damaged(&self.path, what));
            }
            next += to_u64(items.len() - before);
        }
        Ok(items)
    }

    /// The chunk that contains an item, and the index of the item in it.
    fn chunk_of(&self, item: u64) -> Result<(u64, u64)> {
        if item >= self.len() {
            let what = format!("{} items where there are more rows", self.len());
            return Err(damaged(&self.path, what));
        }
        let Some(ends) = &self.ends else {
            return Ok((item, 0));
        };
        let chunk = ends.partition_point(|end| *end <= item);
        let before = chunk.checked_sub(1).and_then(|before| ends.get(before));
        Ok((to_u64(chunk), item - before.copied().unwrap_or(0)))
    }

    /// Decodes the batch in a chunk, unless it is the last one that was read.
    fn load(&mut self, chunk: u64) -> Result<()> {
        if self
            .batch
            .as_ref()
            .is_some_and(|(loaded, _)| *loaded == chunk)
        {
            return Ok(());
        }
        let damaged = |what: String| damaged(&self.path, format!("chunk {chunk}: {what}"));
        let (mut items, mut values) = (Vec::new(), MAX_VALUES);
        for block in self.frame.blocks(chunk)? {
            let value = Value::decode_within(&block, &mut values)
                .map_err(|error| damaged(error.to_string()))?;
            match (value, &self.ends) {
                (Value::List(values), Some(_)) => items.extend(values),
                (value, None) => items.push(value),
                _ => return Err(damaged("a block that is not a list".to_owned())),
            }
        }
        let expected = match &self.ends {
            Some(ends) => count_in(ends, chunk)
                .ok_or_else(|| Error::bug(format!("chunk {chunk} of {} batches", ends.len())))?,
            None => 1,
        };
        if to_u64(items.len()) != expected {
            let found = items.len();
            return Err(damaged(format!("{found} items, expected {expected}")));
        }
        self.batch = Some((chunk, items));
        Ok(())
    }
}

/// The number of items up to the end of each chunk, from the lengths of the batches.
fn ends(frame: &VaryingFrame, path: &str) -> Result<Vec<u64>> {
    let chunks = frame.frame().chunks();
    if chunks == 0 {
        return Ok(Vec::new());
    }
    let metadata = layer(frame.frame(), LENGTHS, path)?;
    let lens = metadata.get("batch_lengths").and_then(Value::as_list);
    let mut end = 0u64;
    let ends = lens.unwrap_or_default().iter().map(|len| {
        end = end.checked_add(len.as_count()?)?;
        Some(end)
    });
    let ends = ends.collect::<Option<Vec<_>>>().unwrap_or_default();
    if to_u64(ends.len()) == chunks {
        Ok(ends)
    } else {
        let what = format!("lengths of {} batches, expected {chunks}", ends.len());
        Err(damaged(path, what))
    }
}

/// The number of items in a batch.
fn count_in(ends: &[u64], batch: u64) -> Option<u64> {
    let number = usize::try_from(batch).ok()?;
    let before = match number.checked_sub(1) {
        Some(before) => *ends.get(before)?,
        None => 0,
    };
    ends.get(number)?.checked_sub(before)
}
