//! Fingerprints: two digests in the last bytes of a frame.
//!
//! ```text
//! -17  03   kind: 128 bits
//! -16  u64  XXH3 of all bytes before, with the numbers of threads and the array's shape as zeros     big-endian
//!  -8  u64  XXH3 of the bytes that were taken as zeros
//! ```
//!
//! The format reserves these bytes at the end of the trailer. C-Blosc2 never reads them, and writes zeros there whenever it
//! changes a chunk or the trailer: the frame then has no fingerprint, rather than a wrong one. If C-Blosc2 changes only a
//! shape, it leaves them, and writes its own numbers of threads. `docs/format-stores.md`, "Fingerprints", describes which
//! changes `verify` accepts.

use super::Frame;
use crate::part::FramePart;
use crate::wire::Trailer;
use crate::wire::header::{FrameHeader, Sizes};
use crate::wire::kind::ArrayKind;
use crate::wire::metalayers::Metalayers;
use bloscpack_error::checked::{in_memory, to_u64};
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_storage::ReadAt;
use bloscpack_storage::internal::sync_file;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;
use twox_hash::XxHash3_64;
use twox_hash::xxhash3_64::Hasher;

/// Bytes that are read at once.
const STEP: u64 = 1 << 20;
/// The bytes of the header with the numbers of threads, which do not affect the data.
const THREADS: Range<usize> = 63..68;
/// Bytes before the shape in the metalayer of an array, and bytes of an axis.
const BEFORE_SHAPE: usize = 4;
const AXIS: usize = 9;

/// The result of comparing a frame with its fingerprint.
pub(super) enum Compared {
    /// They match, or there is no fingerprint.
    Same,
    /// Only the shape of the array or a number of threads differs.
    Resized(Error),
    /// Other bytes differ.
    Different(Error),
}

impl Frame {
    /// Compares all bytes of the frame with its fingerprint. Reads the whole frame, but decompresses nothing.
    ///
    /// Succeeds if the frame has no fingerprint: see [`has_fingerprint`](Self::has_fingerprint).
    ///
    /// # Errors
    /// Returns any I/O error, and [`Code::Digest`] if the bytes differ.
    pub fn check_fingerprint(&self) -> Result<()> {
        match self.compare_fingerprint()? {
            Compared::Same => Ok(()),
            Compared::Resized(error) | Compared::Different(error) => Err(error),
        }
    }

    /// Compares the frame with its fingerprint, and tells a changed shape from other differences.
    pub(super) fn compare_fingerprint(&self) -> Result<Compared> {
        let (Some(expected), Some(file)) = (self.meta.trailer.fingerprint, self.storage.file())
        else {
            return Ok(Compared::Same);
        };
        let (header, layers) = (self.meta.header_len(), self.metalayers());
        let end = self.meta.header.frame_len - to_u64(Trailer::FINGERPRINT_LEN);
        let found = fingerprint(file, (header, layers), end).reading()?;
        if found == expected {
            return Ok(Compared::Same);
        }
        let error = Error::unexpected(Code::Digest, "digest", hex(&found), hex(&expected))
            .in_part(FramePart::Frame);
        Ok(if found.first_chunk::<8>() == expected.first_chunk::<8>() {
            Compared::Resized(error)
        } else {
            Compared::Different(error)
        })
    }

    /// Whether the frame has a fingerprint. A frame loses it with its first change.
    #[must_use]
    pub fn has_fingerprint(&self) -> bool {
        self.meta.trailer.fingerprint.is_some()
    }
}

/// Writes a fingerprint into a complete contiguous frame, and syncs the file. [`Frame::verify`] then detects any changed bit.
///
/// Reads the whole file. A file that is not exactly as long as its frame stays unchanged. The bytes are written in place,
/// without a journal: a crash leaves a damaged frame, so no reader should open it before this returns.
///
/// ```
/// use bloscpack_frames::{Frame, seal};
/// # let temp = tempfile::tempdir()?;
/// # let path = temp.path().join("frame");
/// let mut frame = Frame::builder(4, 400).create(&path)?;
/// frame.append(&[5; 400])?;
/// frame.flush()?;
/// drop(frame);
/// seal(&path)?;
/// let frame = Frame::open(&path)?;
/// assert!(frame.has_fingerprint());
/// frame.check_fingerprint()?;
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns [`Code::UnknownFormat`] for a file that does not begin with a frame, any I/O error, and damage to header or trailer.
pub fn seal(path: &Path) -> Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let len = file.metadata()?.len();
    let mut prefix = [0; FrameHeader::PREFIX_LEN];
    file.read_exact_at(0, &mut prefix)?;
    let prefix = FrameHeader::prefix(&prefix)?;
    if prefix.frame_len != len {
        return Ok(());
    }
    let tail_len = to_u64(Trailer::TAIL_LEN);
    let at = len.checked_sub(tail_len);
    let cut = || FramePart::TrailerEnd.cut_short(None, len, tail_len);
    let at = at.ok_or_else(cut)?;
    let mut tail = [0; Trailer::TAIL_LEN];
    file.read_exact_at(at, &mut tail)?;
    Trailer::len_from_tail(&tail)?;
    let end = len - to_u64(Trailer::FINGERPRINT_LEN);
    file.seek(SeekFrom::Start(end - 1))?;
    file.write_all(&[Trailer::FINGERPRINT_KIND])?;
    let header = read_header(&file, prefix.header_len.into())?;
    let head = (prefix.header_len.into(), &header.metalayers);
    let fingerprint = fingerprint(&file, head, end)?;
    file.seek(SeekFrom::Start(end))?;
    file.write_all(&fingerprint)?;
    Ok(sync_file(&file)?)
}

/// Reads and decodes a header of `len` bytes, with sizes of any kind.
fn read_header(file: &File, len: u64) -> Result<FrameHeader> {
    let mut bytes = FramePart::Header.zeros(len)?;
    file.read_exact_at(0, &mut bytes)?;
    FrameHeader::decode_as(&bytes, Sizes::Varying)
}

/// The fingerprint of a frame with this header whose bytes before the fingerprint end at `end`.
fn fingerprint(
    file: &(impl ReadAt + ?Sized),
    (header_len, layers): (u64, &Metalayers),
    end: u64,
) -> io::Result<[u8; 16]> {
    let mut header = vec![0; in_memory(header_len).map_err(io::Error::other)?];
    file.read_exact_at(0, &mut header)?;
    let mut shape = Vec::new();
    for place in shape_place(&header, layers).into_iter().chain([THREADS]) {
        if let Some(place) = header.get_mut(place) {
            shape.extend_from_slice(place);
            place.fill(0);
        }
    }
    let mut hasher = Hasher::new();
    std::hash::Hasher::write(&mut hasher, &header);
    let (mut at, mut buffer) = (header_len, Vec::new());
    while at < end {
        let step = STEP.min(end - at);
        buffer.resize(in_memory(step).map_err(io::Error::other)?, 0);
        file.read_exact_at(at, &mut buffer)?;
        std::hash::Hasher::write(&mut hasher, &buffer);
        at += step;
    }
    let digests = [
        std::hash::Hasher::finish(&hasher),
        XxHash3_64::oneshot(&shape),
    ];
    let mut fingerprint = [0; 16];
    for (to, from) in fingerprint
        .iter_mut()
        .zip(digests.map(u64::to_be_bytes).as_flattened())
    {
        *to = *from;
    }
    Ok(fingerprint)
}

/// The bytes of the header that contain the shape of the array; `None` for a frame without a `b2nd` metalayer.
fn shape_place(header: &[u8], layers: &Metalayers) -> Option<Range<usize>> {
    let layer = layers.get(ArrayKind::B2nd.name())?;
    let axes = usize::from(*layer.get(2)?);
    let at = header
        .windows(layer.len().max(1))
        .position(|part| part == layer)?;
    let start = at + BEFORE_SHAPE;
    let len = AXIS * axes;
    (BEFORE_SHAPE + len <= layer.len()).then_some(start..start + len)
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
    fn a_shape_is_checked_apart() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("x.b2nd");
        let array = crate::NdArray::of_type::<u16>(&[3, 5]).chunk_shape(&[4, 8]);
        drop(array.create(&path).unwrap());
        seal(&path).unwrap();
        let sound = std::fs::read(&path).unwrap();
        assert!(Frame::open(&path).unwrap().check_fingerprint().is_ok());
        let at = sound
            .windows(9)
            .position(|part| part == b"\xd3\0\0\0\0\0\0\0\x05");
        for (at, resized) in [(at.unwrap() + 8, true), (63, true), (56, false)] {
            let mut bytes = sound.clone();
            bytes[at] ^= 2;
            let frame = Frame::from_bytes(bytes).unwrap();
            let found = frame.compare_fingerprint().unwrap();
            assert_eq!(matches!(found, Compared::Resized(_)), resized, "byte {at}");
            assert!(!frame.verify(|_| ()).is_sound());
            let allowed = frame.verify_allowing(|_| (), || true).is_sound();
            assert_eq!(allowed, resized, "byte {at}");
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
