//! One Blosc chunk in memory: header, filters, compressors. No I/O.
