//! The compressor of version 2.
//!
//! ```text
//!  "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}     null: not compressed
//! ```

use super::Fields;
use crate::codec::BytesCodec;
use crate::error::unsupported;
use bloscpack_error::Result;

/// The codec that the compressor names; `None` if chunks are not compressed.
pub(super) fn compressor(fields: &Fields<'_>) -> Result<Option<BytesCodec>> {
    let Some(value) = fields.get("compressor") else {
        return Ok(None);
    };
    let codec = match Fields::of("compressor", value)?.text("id")? {
        "blosc" => BytesCodec::Blosc,
        "zlib" => BytesCodec::Zlib,
        "gzip" => BytesCodec::Gzip,
        "zstd" => BytesCodec::Zstd,
        "lz4" => BytesCodec::Lz4,
        "crc32c" => BytesCodec::Crc32c,
        other => {
            let expected = "blosc, zlib, gzip, zstd, lz4 or crc32c";
            return Err(unsupported("the compressor", other, expected));
        }
    };
    Ok(Some(codec))
}
