//! The lines of a file through zstd, like the command `zstd`.

use std::io::Write;

use super::Store;
use crate::Result;

/// The compressed lines.
pub fn compress(lines: &[u8], level: i32) -> Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(vec![], level)?;
    encoder.set_pledged_src_size(Some(lines.len() as u64))?;
    encoder.write_all(lines)?;
    Ok(encoder.finish()?)
}

/// Compressed lines, which can only be read from the beginning.
pub struct Reader(pub Vec<u8>);

impl Store for Reader {
    fn scan(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        let lines = zstd::decode_all(&self.0[..])?;
        let mut from = 0;
        for to in memchr::memchr_iter(b'\n', &lines) {
            each(&lines[from..to]);
            from = to + 1;
        }
        Ok(())
    }

    fn gets(&mut self, numbers: &[usize], _: &mut dyn FnMut(&[u8])) -> Result<()> {
        match numbers {
            [] => Ok(()),
            _ => Err("lines have no numbers".into()),
        }
    }
}
