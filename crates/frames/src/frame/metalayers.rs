//! Metadata of a frame: metalayers of fixed length in the header, and of varying length in the trailer.

use super::Frame;
use crate::part::FramePart;
use crate::wire::kind::ArrayKind;
use crate::wire::metalayers::Metalayers;
use blosc1::{
    Blosc2Encoder, Blosc2Settings, ChunkError, ChunkHeader, ChunkSettings, FilterPipeline,
    HEADER_LEN,
};
use bloscpack_error::checked::to_u64;
use bloscpack_error::{Error, Result};
use bloscpack_wire::{Limit, Limits};

impl Frame {
    /// Sets a metalayer in the header. If it is new or its length changes, the next flush rewrites the whole file.
    ///
    /// ```
    /// use bloscpack_frames::Frame;
    /// let mut frame = Frame::builder(1, 100).in_memory()?;
    /// frame.set_metalayer("unit", b"K".to_vec())?;
    /// assert_eq!(frame.metalayers().get("unit"), Some(b"K".as_slice()));
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a name of 0 or more than 31 bytes and for more
    /// than 16 metalayers; [`Code::Usage`](bloscpack_error::Code::Usage) for `b2nd` and `caterva`, which describe an array and
    /// change with the methods of [`NdArray`](crate::NdArray); [`Code::OverLimit`](bloscpack_error::Code::OverLimit) if the
    /// header would exceed the limit `metadata`; and [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was
    /// opened for reading. The metalayers then stay as they were.
    pub fn set_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        if [ArrayKind::Caterva, ArrayKind::B2nd]
            .iter()
            .any(|kind| kind.name() == name)
        {
            return Err(Error::usage(format!(
                "the metalayer {name:?} describes the array; resize the array instead"
            )));
        }
        self.put_metalayer(name, bytes)
    }

    /// Like [`set_metalayer`](Self::set_metalayer), for any name.
    pub(crate) fn put_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.begin()?;
        let layers = &mut self.meta.header.metalayers;
        let before = layers.get(name).map(<[u8]>::to_vec);
        layers.set(name, bytes)?;
        // Checked now: a failed flush would lose all other changes, and metadata over the limit could not be read again.
        let room = layers
            .check_header()
            .and_then(|()| self.meta.check_len(&self.coder.limits));
        if room.is_err() {
            restore(&mut self.meta.header.metalayers, name, before)?;
        }
        room
    }

    /// The names of the metalayers in the trailer, in the order of the file.
    pub fn vlmetalayers(&self) -> impl Iterator<Item = &str> {
        self.meta.trailer.vlmetalayers.iter().map(|(name, _)| name)
    }

    /// The value of a metalayer in the trailer; `None` if there is none with this name. Decompresses it on every call.
    ///
    /// # Errors
    /// Returns [`Code::OverLimit`](bloscpack_error::Code::OverLimit) if its uncompressed length exceeds the limit `metadata`,
    /// and [`Code::Chunk`](bloscpack_error::Code::Chunk) for damage.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(chunk) = self.meta.trailer.vlmetalayers.get(name) else {
            return Ok(None);
        };
        let part = || FramePart::Metalayer(name.to_owned());
        let damaged = |error| part().bad_chunk(error);
        let first = chunk.first_chunk().ok_or_else(|| {
            damaged(ChunkError::CutShort {
                found: chunk.len(),
                expected: HEADER_LEN,
            })
        })?;
        let header = ChunkHeader::parse(first).map_err(damaged)?;
        check_layer(name, header.nbytes.into(), &self.coder.limits)?;
        let mut data = part().zeros(header.nbytes.into())?;
        self.coder
            .decode(|decoder| decoder.decode(chunk, &mut data))
            .map_err(damaged)?;
        Ok(Some(data))
    }

    /// Sets a metalayer in the trailer. The value may have any length up to the limit `metadata`, and is compressed.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a name of 0 or more than 31 bytes, and for more
    /// than 8192 metalayers or 65,529 bytes of names (each counted with six more bytes);
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) if the value or the trailer would exceed the limit `metadata`; and
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading. The metalayers then stay as
    /// they were.
    pub fn set_vlmetalayer(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.begin()?;
        check_layer(name, to_u64(bytes.len()), &self.coder.limits)?;
        let chunk = vlmetalayer_chunk(bytes)?;
        let layers = &mut self.meta.trailer.vlmetalayers;
        let before = layers.get(name).map(<[u8]>::to_vec);
        layers.set(name, chunk)?;
        let room = layers
            .check_trailer()
            .and_then(|()| self.meta.check_len(&self.coder.limits));
        let layers = &mut self.meta.trailer.vlmetalayers;
        if room.is_err() {
            restore(layers, name, before)?;
        }
        self.meta.header.has_vlmetalayers = !layers.is_empty();
        room
    }

    /// Removes a metalayer from the trailer. Returns whether there was one with this name.
    ///
    /// # Errors
    /// Returns [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.begin()?;
        let layers = &mut self.meta.trailer.vlmetalayers;
        let removed = layers.remove(name).is_some();
        self.meta.header.has_vlmetalayers = !layers.is_empty();
        Ok(removed)
    }
}

/// Undoes the setting of a metalayer: restores its old value, or removes it.
fn restore(layers: &mut Metalayers, name: &str, before: Option<Vec<u8>>) -> Result<()> {
    match before {
        Some(bytes) => layers.set(name, bytes)?,
        None => {
            layers.remove(name);
        }
    }
    Ok(())
}

/// Refuses a vlmetalayer of more uncompressed bytes than the limit `metadata`.
pub(super) fn check_layer(name: &str, found: u64, limits: &Limits) -> Result<()> {
    let part = FramePart::Metalayer(name.to_owned());
    let allowed = limits.metadata.into();
    part.check_limit(Limit::Metadata, found, allowed)
}

/// Compresses the value of a vlmetalayer: default compressor, level 5, shuffle, elements of one byte.
pub(super) fn vlmetalayer_chunk(bytes: &[u8]) -> Result<Vec<u8>> {
    let settings = Blosc2Settings::default()
        .compressor(ChunkSettings::default().compressor)
        .level(5)
        .filters(FilterPipeline::default())
        .typesize(1);
    let mut chunk = Vec::new();
    Blosc2Encoder::new(settings)?.encode(bytes, &mut chunk)?;
    Ok(chunk)
}
