//! Frames within the content of another frame.

use super::error::StoreError;
use super::msgpack::Value;
use crate::frame::Frame;
use crate::int::{in_memory, to_u64};
use bloscpack_error::Result;
use bloscpack_storage::ReadAt;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The metalayer of the trailer that says where each frame is.
const METADATA: &str = "estore_metadata";

/// Where a frame is in the content of another one; `None` for an array elsewhere in the network.
pub(super) type Place = Option<Range<u64>>;

/// The paths of the frames in another one, with their places.
pub(super) fn places(frame: &Frame, path: &str) -> Result<BTreeMap<String, Place>> {
    let damaged = |what: &dyn std::fmt::Display| StoreError::damaged(path, what);
    let Some(bytes) = frame.vlmetalayer(METADATA)? else {
        return Ok(BTreeMap::new());
    };
    let value = Value::decode(&bytes).map_err(|error| damaged(&error))?;
    let Some(Value::Map(pairs)) = value.get("embed_map") else {
        return Err(damaged(&"its metadata has no embed_map").into());
    };
    let mut places = BTreeMap::new();
    for (name, entry) in pairs {
        let name = name.as_text().unwrap_or_default();
        let count = |key| entry.get(key).and_then(Value::as_count);
        let place = match (count("offset"), count("length"), entry.get("urlbase")) {
            (Some(at), Some(len), None) => {
                let end = at.checked_add(len);
                let end = end.filter(|end| *end <= frame.content_len());
                let end = end.ok_or_else(|| {
                    let content = frame.content_len();
                    damaged(&format!("{name}: {len} bytes at {at} of {content}"))
                })?;
                Some(at..end)
            }
            (None, None, Some(_)) => None,
            _ => return Err(damaged(&format!("{name}: an entry without a place")).into()),
        };
        let Some(name) = name.strip_prefix('/').filter(|name| !name.is_empty()) else {
            return Err(damaged(&format!("{name:?} is not a path")).into());
        };
        if places.insert(name.to_owned(), place).is_some() {
            return Err(damaged(&format!("{name} occurs twice")).into());
        }
    }
    Ok(places)
}

/// A range of the content of a frame.
pub(super) struct Section {
    pub frame: Arc<Frame>,
    pub range: Range<u64>,
}

impl ReadAt for Section {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let start = self.range.start.saturating_add(at); // past the end, however far
        if start >= self.range.end || buf.is_empty() {
            return Ok(0);
        }
        let size = u64::from(self.frame.chunk_size()).max(1);
        let (number, within) = (start / size, start % size);
        let chunk = u64::from(self.frame.chunk_len(number)?);
        let rest = (self.range.end - start).min(chunk.saturating_sub(within));
        let len = in_memory(rest.min(to_u64(buf.len())))?;
        let room = buf.get_mut(..len);
        let room = room.ok_or_else(|| io::Error::other("a part longer than its buffer"))?;
        let within = u32::try_from(within).map_err(io::Error::other)?;
        self.frame.read_range(number, within, room)?;
        Ok(len)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.range.end - self.range.start)
    }
}
