//! Metadata of a frame: layers before the chunks, of a few fixed lengths, and layers behind them, of any.

use super::Frame;
use crate::wire::{ArrayKind, Metalayers};
use blosc1::{Blosc2Encoder, Blosc2Settings, ChunkHeader, ChunkSettings, Fault, FilterPipeline};
use bloscpack_error::{Error, Result};

impl Frame {
    /// Sets a layer of metadata before the chunks. If it has another length than the one of this name, or is new, a file is
    /// written anew with the next flush.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for a name of 0 or more than 31 bytes, for more than 16 layers, and for those that
    /// describe an array, which its methods change; [`OverLimit`](bloscpack_error::Category::OverLimit) if the header would be longer
    /// than the limit `metadata`.
    pub fn set_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        if [ArrayKind::Caterva, ArrayKind::B2nd]
            .iter()
            .any(|kind| kind.name() == name)
        {
            let what =
                format!("the layer {name:?} tells the shape of the array: resize that instead");
            return Err(Error::usage(what));
        }
        self.put_metalayer(name, bytes)
    }

    pub(super) fn put_metalayer(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        self.begin()?;
        let layers = &mut self.outline.header.metalayers;
        let before = layers.get(name).map(<[u8]>::to_vec);
        layers.set(name, bytes)?;
        // A flush that cannot be made would cost all other changes, and so would one that cannot be opened again.
        let room = layers.check_header().map_err(Error::from);
        let room = room.and_then(|()| self.outline.check_metadata(&self.coders.limits));
        if room.is_err() {
            put_back(&mut self.outline.header.metalayers, name, before)?;
        }
        room
    }

    /// The names of the layers behind the chunks.
    pub fn vlmetalayers(&self) -> impl Iterator<Item = &str> {
        self.outline
            .trailer
            .vlmetalayers
            .iter()
            .map(|(name, _)| name)
    }

    /// A layer of metadata behind the chunks, decompressed.
    ///
    /// # Errors
    /// [`OverLimit`](bloscpack_error::Category::OverLimit) beyond the limit `metadata`; whatever is wrong with its chunk.
    pub fn vlmetalayer(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(chunk) = self.outline.trailer.vlmetalayers.get(name) else {
            return Ok(None);
        };
        let wrong = |error: Error| {
            let fault = match error.category() {
                bloscpack_error::Category::OverLimit => Fault::OverLimit,
                bloscpack_error::Category::Unsupported => Fault::Unsupported,
                bloscpack_error::Category::Failed => Fault::Bug,
                _ => Fault::Damaged,
            };
            crate::error::frame(fault, format!("metadata {name:?}: {error}"))
        };
        let first = chunk.first_chunk().ok_or_else(|| {
            let what = format!(
                "metadata {name:?}: {} bytes, which are no chunk",
                chunk.len()
            );
            crate::error::frame(Fault::Damaged, what)
        })?;
        let header = ChunkHeader::parse(first).map_err(|error| wrong(error.into()))?;
        if header.nbytes > self.coders.limits.metadata {
            let limit = self.coders.limits.metadata;
            let what = format!(
                "metadata {name:?}: {} bytes, over the limit `metadata` of {limit}",
                header.nbytes
            );
            return Err(crate::error::frame(Fault::OverLimit, what));
        }
        let mut data = vec![0; usize::try_from(header.nbytes).unwrap_or(0)];
        let decoded = self
            .coders
            .decode(|decoder| Ok(decoder.decode(chunk, &mut data)?));
        decoded.map_err(wrong)?;
        Ok(Some(data))
    }

    /// Sets a layer of metadata behind the chunks, which may have any length.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) for a name of 0 or more than 31 bytes, for more than 8192 layers or 65,529 bytes of
    /// names (with six more for each), and if the frame was opened for reading only;
    /// [`OverLimit`](bloscpack_error::Category::OverLimit) if all of them together would be longer than the limit `metadata`.
    pub fn set_vlmetalayer(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.begin()?;
        let chunk = compressed(bytes)?;
        let layers = &mut self.outline.trailer.vlmetalayers;
        let before = layers.get(name).map(<[u8]>::to_vec);
        layers.set(name, chunk)?;
        let room = layers.check_trailer().map_err(Error::from);
        let room = room.and_then(|()| self.outline.check_metadata(&self.coders.limits));
        let layers = &mut self.outline.trailer.vlmetalayers;
        if room.is_err() {
            put_back(layers, name, before)?;
        }
        self.outline.header.has_vlmetalayers = !layers.is_empty();
        room
    }

    /// Removes a layer of metadata behind the chunks; whether there was one.
    ///
    /// # Errors
    /// [`Usage`](bloscpack_error::Category::Usage) if the frame was opened for reading only.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> Result<bool> {
        self.begin()?;
        let layers = &mut self.outline.trailer.vlmetalayers;
        let removed = layers.remove(name).is_some();
        self.outline.header.has_vlmetalayers = !layers.is_empty();
        Ok(removed)
    }
}

/// Undoes the setting of a layer.
fn put_back(layers: &mut Metalayers, name: &str, before: Option<Vec<u8>>) -> Result<()> {
    match before {
        Some(bytes) => layers.set(name, bytes)?,
        None => {
            layers.remove(name);
        }
    }
    Ok(())
}

/// What a layer behind the chunks is stored as.
pub(super) fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let settings = Blosc2Settings::default()
        .compressor(ChunkSettings::default().compressor)
        .level(5)
        .filters(FilterPipeline::default())
        .typesize(1);
    let mut chunk = Vec::new();
    Blosc2Encoder::new(settings)?.encode(bytes, &mut chunk)?;
    Ok(chunk)
}
