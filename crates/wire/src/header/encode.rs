//! Encodes a [`Header`] in its layout.

use super::{
    CHUNK_SIZE, Header, LAST_CHUNK, MAGIC, MAX_APP_CHUNKS, META_SIZE, METADATA_BIT, MetadataPlace,
    NCHUNKS, OFFSETS_BIT, OPTIONS, RESERVED, SEAL_BIT, V1_NCHUNKS, VARLEN_BIT, VERSION,
};
use crate::error::FormatError;
use crate::fields::put;
use crate::version::FormatVersion;

impl Header {
    /// The bytes of this header: [`FormatVersion::header_len`] of them.
    ///
    /// V1 stores the number of chunks alone. The typesize, the chunk size and the last chunk are
    /// then dropped without an error, all other fields must have the values of [`Header::new`]. In
    /// V2 and V3, an unknown typesize is stored as 0.
    ///
    /// # Errors
    /// - [`FormatError::ReadOnly`] for V0 and Dev2012;
    /// - [`FormatError::NoPlace`] for a field that the layout cannot store;
    /// - [`FormatError::Field`] for the contradictions of [`check`](Self::check).
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        self.check()?;
        let mut bytes = vec![0; self.version.header_len()];
        put(&mut bytes, 0, &MAGIC);
        put(&mut bytes, VERSION, &[self.version.number()]);
        match self.version {
            FormatVersion::V0 | FormatVersion::Dev2012 => {
                return Err(FormatError::ReadOnly {
                    version: self.version,
                });
            }
            FormatVersion::V1 => self.encode_v1(&mut bytes)?,
            FormatVersion::V2 => self.encode_v2(&mut bytes)?,
            FormatVersion::V3 => self.encode_v3(&mut bytes)?,
        }
        Ok(bytes)
    }

    /// V1: the number of chunks.
    fn encode_v1(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        let bare = Self {
            nchunks: self.nchunks,
            typesize: None,
            chunk_size: None,
            last_chunk: None,
            ..self.clone()
        };
        if bare
            != (Self {
                nchunks: self.nchunks,
                ..Self::new(FormatVersion::V1)
            })
        {
            return Err(FormatError::NoPlace {
                version: FormatVersion::V1,
                what: "offsets, metadata or a checksum",
            });
        }
        put(bytes, V1_NCHUNKS, &self.signed_nchunks()?.to_le_bytes());
        Ok(())
    }

    /// V2: raw metadata of less than 2 GiB, a seal or zero, and no spare entries.
    fn encode_v2(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        self.encode_common(bytes)?;
        match self.metadata {
            MetadataPlace::Absent => {}
            MetadataPlace::Raw { len, zlib: false } if i32::try_from(len).is_ok() => {
                put(bytes, META_SIZE, &len.to_le_bytes());
            }
            _ => {
                return Err(FormatError::NoPlace {
                    version: FormatVersion::V2,
                    what: "metadata in this form",
                });
            }
        }
        if self.max_app_chunks != 0 {
            return Err(FormatError::NoPlace {
                version: FormatVersion::V2,
                what: "spare offsets",
            });
        }
        put(bytes, RESERVED, &self.seal.unwrap_or(0).to_le_bytes());
        Ok(())
    }

    /// V3: a metadata section, spare entries, and no seal.
    fn encode_v3(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        self.encode_common(bytes)?;
        if matches!(self.metadata, MetadataPlace::Raw { .. }) || self.seal.is_some() {
            return Err(FormatError::NoPlace {
                version: FormatVersion::V3,
                what: "raw metadata or a seal",
            });
        }
        put(bytes, MAX_APP_CHUNKS, &self.max_app_chunks.to_le_bytes());
        Ok(())
    }

    /// The fields that V2 and V3 share: bytes 5 to 23.
    fn encode_common(&self, bytes: &mut [u8]) -> Result<(), FormatError> {
        let has_metadata = self.metadata != MetadataPlace::Absent;
        let options = [
            (self.offsets, OFFSETS_BIT),
            (has_metadata, METADATA_BIT),
            (self.varlen, VARLEN_BIT),
            (self.seal.is_some(), SEAL_BIT),
        ];
        let options = options
            .iter()
            .filter(|(set, _)| *set)
            .fold(0, |all, (_, bit)| all | bit);
        put(
            bytes,
            OPTIONS,
            &[options, self.checksum.id(), self.typesize.unwrap_or(0)],
        );
        for (at, size) in [(CHUNK_SIZE, self.chunk_size), (LAST_CHUNK, self.last_chunk)] {
            let field = size.map_or(Ok(-1), i32::try_from);
            let field = field.map_err(|_| FormatError::NoPlace {
                version: self.version,
                what: "so large a chunk",
            })?;
            put(bytes, at, &field.to_le_bytes());
        }
        put(bytes, NCHUNKS, &self.signed_nchunks()?.to_le_bytes());
        Ok(())
    }

    /// The number of chunks as it is stored, -1 for unknown.
    fn signed_nchunks(&self) -> Result<i64, FormatError> {
        let count = self.nchunks.map_or(Ok(-1), i64::try_from);
        count.map_err(|_| FormatError::NoPlace {
            version: self.version,
            what: "so many chunks",
        })
    }
}
