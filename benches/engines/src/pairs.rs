//! Chunks with their data, in a file: both lengths, then both.

use std::io::{Error, Result};

pub struct Pair {
    pub chunk: Vec<u8>,
    pub data: Vec<u8>,
}

pub fn load(file: &str) -> Result<Vec<Pair>> {
    let bytes = std::fs::read(file)?;
    let (mut rest, mut pairs) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let chunk = piece(&mut rest)?;
        let data = piece(&mut rest)?;
        pairs.push(Pair { chunk, data });
    }
    Ok(pairs)
}

/// The next piece of the file, after its length.
fn piece(rest: &mut &[u8]) -> Result<Vec<u8>> {
    let cut = || Error::other("the file of chunks is cut short");
    let (len, after) = rest.split_first_chunk().ok_or_else(cut)?;
    let len = u32::from_le_bytes(*len) as usize;
    let (piece, after) = after.split_at_checked(len).ok_or_else(cut)?;
    *rest = after;
    Ok(piece.to_vec())
}

#[cfg(feature = "c-blosc")]
pub use made::make;

#[cfg(feature = "c-blosc")]
mod made {
    use std::io::{BufWriter, Result, Write};

    use crate::data::{Kind, Random};

    const NAMES: [&std::ffi::CStr; 6] = [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd"];

    /// Writes `count` chunks of C-Blosc with random settings.
    pub fn make(file: &str, count: usize) -> Result<()> {
        let mut out = BufWriter::new(std::fs::File::create(file)?);
        let mut random = Random::new(93);
        for _ in 0..count {
            let longest = 1 << (1 + random.below(20));
            let len = 1 + random.below(longest);
            let data = random.pick(&Kind::ALL).data(&mut random, len);
            for piece in [compress(&mut random, &data), data] {
                let len = u32::try_from(piece.len()).map_err(std::io::Error::other)?;
                out.write_all(&len.to_le_bytes())?;
                out.write_all(&piece)?;
            }
        }
        out.flush()
    }

    fn compress(random: &mut Random, data: &[u8]) -> Vec<u8> {
        let level = 1 + random.below(9) as i32;
        let filter = random.below(3) as i32;
        let any = 1 + random.below(255);
        let typesize = random.pick(&[1, 2, 3, 4, 8, 8, 16, any]);
        let name = random.pick(&NAMES);
        let mut chunk = vec![0; data.len() + 16];
        let (from, to) = (data.as_ptr().cast(), chunk.as_mut_ptr().cast());
        // SAFETY: both pointers are valid for the lengths given, and the name ends with a zero byte.
        let len = unsafe {
            blosc_src::blosc_compress_ctx(
                level,
                filter,
                typesize,
                data.len(),
                from,
                to,
                chunk.len(),
                name.as_ptr(),
                0,
                1,
            )
        };
        chunk.truncate(usize::try_from(len).unwrap_or(0));
        assert!(!chunk.is_empty(), "C-Blosc gave {len}");
        chunk
    }
}
