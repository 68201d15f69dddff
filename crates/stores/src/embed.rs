//! Frames in the content of another frame: `embed.b2e`, or a `.b2e`.
//!
//! ```text
//!  vlmetalayer estore_metadata, MessagePack:
//!    {embed_map: {"/n1": {offset: 0, length: 287}, "/dir1/n2": {offset: 287, length: 276},
//!                 "/r": {urlbase: "https://..", path: ".."}}, current_offset: 3299}
//!  content:
//!    0 .. 287      the frame /n1
//!    287 .. 563    the frame /dir1/n2
//!    ..            bytes without an entry are dead
//! ```
//!
//! An entry with `urlbase` is a remote array: its data is not in the store.

use crate::error::damaged;
use bloscpack_array::msgpack::Value;
use bloscpack_error::Result;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_frames::Frame;
use bloscpack_storage::ReadAt;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// The vlmetalayer with the places of the embedded frames.
const METADATA: &str = "estore_metadata";

/// The vlmetalayer of a store that was saved from a URL: the source, and the paths of its nodes.
const REMOTE: &str = "b2remote_manifest";

/// The place of a frame.
pub(super) enum Place {
    /// A range of the content of the embedding frame.
    Here(Range<u64>),
    /// At this URL. Nothing of it was fetched.
    Remote(String),
}

/// The frames in another frame, by path without the leading slash. `path` names the embedding frame in errors.
///
/// Ranges outside of the content, paths that occur twice and entries without a place are damage.
pub(super) fn places(frame: &Frame, path: &str) -> Result<BTreeMap<String, Place>> {
    let Some(bytes) = frame.vlmetalayer(METADATA)? else {
        return Ok(BTreeMap::new());
    };
    let value = Value::decode(&bytes).map_err(|error| error.in_part(path))?;
    let Some(Value::Map(pairs)) = value.get("embed_map") else {
        return Err(damaged(path, "its metadata has no embed_map"));
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
                    damaged(path, format!("{name}: {len} bytes at {at} of {content}"))
                })?;
                Place::Here(at..end)
            }
            (None, None, Some(base)) => {
                let base = base.as_text().unwrap_or_default().trim_end_matches('/');
                let path = entry.get("path").and_then(Value::as_text);
                Place::Remote(format!("{base}/{}", path.unwrap_or_default()))
            }
            _ => return Err(damaged(path, format!("{name}: an entry without a place"))),
        };
        let Some(name) = name.strip_prefix('/').filter(|name| !name.is_empty()) else {
            return Err(damaged(path, format!("{name:?} is not a path")));
        };
        if places.insert(name.to_owned(), place).is_some() {
            return Err(damaged(path, format!("{name} occurs twice")));
        }
    }
    Ok(places)
}

/// The arrays of a store that was saved from a URL, by path, each with its URL. Groups are left out.
pub(super) fn remote_places(frame: &Frame, path: &str) -> Result<BTreeMap<String, Place>> {
    let Some(bytes) = frame.vlmetalayer(REMOTE)? else {
        return Ok(BTreeMap::new());
    };
    let value = Value::decode(&bytes).map_err(|error| error.in_part(path))?;
    let source = value.get("source");
    let text = |key| source.and_then(|source| source.get(key)?.as_text());
    let base = text("urlpath")
        .or_else(|| text("urlbase"))
        .unwrap_or_default();
    let Some(Value::Map(nodes)) = value.get("nodes") else {
        return Ok(BTreeMap::new());
    };
    let mut places = BTreeMap::new();
    for (name, node) in nodes {
        let kind = node.as_tuple().and_then(|node| node.first()?.as_text());
        let name = name.as_text().filter(|name| !name.is_empty());
        if let Some(name) = name.filter(|_| kind != Some("group")) {
            let url = format!("{}/{name}", base.trim_end_matches('/'));
            places.insert(name.to_owned(), Place::Remote(url));
        }
    }
    Ok(places)
}

/// A range of the content of a frame, as a file that can be read at any position. Reads decompress blocks.
pub(super) struct Section {
    pub frame: Arc<Frame>,
    pub range: Range<u64>,
}

impl ReadAt for Section {
    /// Reads up to the end of a chunk of the embedding frame, so a read may return fewer bytes than asked for.
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
