//! Fingerprints: the digest of a whole frame, in its last bytes.
//!
//! The format has 16 bytes for it at the end of the trailer. C-Blosc2 does not look at them, and writes zeros there whenever it
//! changes a frame: the digest then is not wrong, but gone.

use super::Frame;
use crate::error::FrameError;
use crate::int::{in_memory, to_u64};
use crate::part::FramePart;
use crate::wire::Trailer;
use crate::wire::header::FrameHeader;
use bloscpack_error::{IoSide as _, Result};
use bloscpack_storage::ReadAt;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use twox_hash::xxhash3_128::Hasher;

/// Bytes that are read at once.
const STEP: u64 = 1 << 20;

impl Frame {
    /// Compares all bytes of the frame with its fingerprint, if it has one.
    pub(crate) fn check_fingerprint(&self) -> Result<()> {
        let (Some(expected), Some(file)) = (self.meta.trailer.fingerprint, self.storage.file())
        else {
            return Ok(());
        };
        let len = self.meta.header.frame_len;
        let digest = digest(file, len - to_u64(Trailer::FINGERPRINT_LEN)).reading()?;
        match digest == expected {
            true => Ok(()),
            false => {
                let (found, expected) = (hex(&digest), hex(&expected));
                Err(FrameError::damaged(FramePart::Frame, None, "digest", found, expected).into())
            }
        }
    }
}

/// Gives a complete frame in a file its fingerprint; a file that goes on after the frame stays as it is. A crash in between leaves a frame that is damaged: the file is not to be
/// used before this returns.
///
/// # Errors
/// Returns any I/O error, and damage if the file does not end with a frame.
pub(crate) fn seal(path: &Path) -> Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let len = file.metadata()?.len();
    let mut prefix = [0; FrameHeader::PREFIX_LEN];
    file.read_exact_at(0, &mut prefix)?;
    if FrameHeader::prefix(&prefix)?.frame_len != len {
        return Ok(());
    }
    let tail_len = to_u64(Trailer::TAIL_LEN);
    let at = len.checked_sub(tail_len);
    let cut = || FrameError::cut_short(FramePart::TrailerEnd, None, len, tail_len);
    let at = at.ok_or_else(cut)?;
    let mut tail = [0; Trailer::TAIL_LEN];
    file.read_exact_at(at, &mut tail)?;
    Trailer::len_from_tail(&tail)?;
    let end = len - to_u64(Trailer::FINGERPRINT_LEN);
    file.seek(SeekFrom::Start(end - 1))?;
    file.write_all(&[Trailer::FINGERPRINT_KIND])?;
    let digest = digest(&file, end)?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(&digest)?;
    Ok(file.sync_all()?)
}

/// The digest of so many bytes: XXH3 of 128 bits, big-endian.
fn digest(file: &(impl ReadAt + ?Sized), len: u64) -> io::Result<[u8; 16]> {
    let (mut hasher, mut at, mut buffer) = (Hasher::new(), 0, Vec::new());
    while at < len {
        let step = STEP.min(len - at);
        buffer.resize(in_memory(step).map_err(io::Error::other)?, 0);
        file.read_exact_at(at, &mut buffer)?;
        hasher.write(&buffer);
        at += step;
    }
    Ok(hasher.finish_128().to_be_bytes())
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Vec<u8> {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("x.b2frame");
        let mut frame = Frame::builder(4, 400).create(&path).unwrap();
        frame.append(&[5; 400]).unwrap();
        frame.set_vlmetalayer("unit", b"metres").unwrap();
        frame.flush().unwrap();
        drop(frame);
        seal(&path).unwrap();
        std::fs::read(&path).unwrap()
    }

    #[test]
    fn every_bit_of_a_sealed_frame_is_checked() {
        let sound = sealed();
        let is_sound = |bytes: Vec<u8>| {
            let frame = Frame::from_bytes(bytes);
            frame.is_ok_and(|frame| frame.verify(|_| ()).is_sound())
        };
        assert!(is_sound(sound.clone()));
        for bit in 0..sound.len() * 8 {
            let mut bytes = sound.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sound(bytes), "bit {bit}");
        }
    }

    #[test]
    fn a_change_removes_the_fingerprint() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("x.b2frame");
        std::fs::write(&path, sealed()).unwrap();
        let mut frame = Frame::edit(&path).unwrap();
        frame.set_vlmetalayer("unit", b"feet").unwrap();
        frame.flush().unwrap();
        assert!(frame.verify(|_| ()).is_sound());
        drop(frame);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes[bytes.len() - 17..], [0; 17]);
    }
}
