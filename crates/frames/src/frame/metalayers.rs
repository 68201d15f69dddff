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
    /// Sets a metalayer in the header. If it is new, or has another length than before, the next flush writes the whole file
    /// anew.
    ///
    /// # Errors
    /// Returns [`Usage`](bloscpack_error::Category::Usage) for a name of 0 or more than 31 bytes, for more than 16 metalayers,
    /// and for the metalayer that describes an array, which the methods of [`NdArray`](crate::NdArray) change;
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) if the header would exceed the limit `metadata`; and
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading only.
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

    pub(crate) fn put_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.begin()?;
        let layers = &mut self.meta.header.metalayers;
        let before = layers.get(name).map(<[u8]>::to_vec);
        layers.set(name, bytes)?;
        // A flush that fails would lose all other changes, and metadata over the limit could not be read again.
        let room = layers
            .check_header()
            .and_then(|()| self.meta.check_len(&self.coder.limits));
        if room.is_err() {
            restore(&mut self.meta.header.metalayers, name, before)?;
        }
        room
    }

    /// The names of the metalayers in the trailer, whose lengths may vary.
    pub fn vlmetalayers(&self) -> impl Iterator<Item = &str> {
        self.meta.trailer.vlmetalayers.iter().map(|(name, _)| name)
    }

    /// A metalayer in the trailer, decompressed; `None` if there is none with this name.
    ///
    /// # Errors
    /// Returns [`Code::OverLimit`](bloscpack_error::Code::OverLimit) if it exceeds the limit `metadata`, and any damage.
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

    /// Sets a metalayer in the trailer, which may have any length.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a name of 0 or more than 31 bytes, and for more
    /// than 8192 metalayers or 65,529 bytes of names (with six more for each);
    /// [`Code::OverLimit`](bloscpack_error::Code::OverLimit) if the layer or the trailer would exceed the limit `metadata`; and
    /// [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading only.
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

    /// Removes a metalayer from the trailer, and returns whether there was one with this name.
    ///
    /// # Errors
    /// Returns [`Code::ReadOnly`](bloscpack_error::Code::ReadOnly) if the frame was opened for reading only.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.begin()?;
        let layers = &mut self.meta.trailer.vlmetalayers;
        let removed = layers.remove(name).is_some();
        self.meta.header.has_vlmetalayers = !layers.is_empty();
        Ok(removed)
    }
}

/// Undoes the setting of a metalayer.
fn restore(layers: &mut Metalayers, name: &str, before: Option<Vec<u8>>) -> Result<()> {
    match before {
        Some(bytes) => layers.set(name, bytes)?,
        None => {
            layers.remove(name);
        }
    }
    Ok(())
}

/// Refuses a metalayer of more uncompressed bytes than the limits allow.
pub(super) fn check_layer(name: &str, found: u64, limits: &Limits) -> Result<()> {
    let part = FramePart::Metalayer(name.to_owned());
    let allowed = limits.metadata.into();
    part.check_limit(Limit::Metadata, found, allowed)
}

/// The chunk as which a metalayer of varying length is stored.
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
