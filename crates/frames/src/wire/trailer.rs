//! The end of a frame: metalayers whose length varies, and how long all of it is.
//!
//! ```text
//! 0    1    2
//! 94 | 01 | metalayers | ce u32 length | d8 00, 16 bytes: no fingerprint | end of file
//!                        ^-- 23 bytes before the end
//! ```

use super::cursor::{ARRAY, Cursor, SIXTEEN, U32, put};
use super::error::FrameError;
use super::metalayers::{Metalayers, Place};
use blosc1::Fault;

const SECTION: &str = "frame trailer";
const VERSION: u8 = 1;

/// The trailer of a frame.
///
/// ```
/// use bloscpack_frames::wire::Trailer;
/// let bytes = Trailer::default().encode()?;
/// let tail = &bytes[bytes.len() - Trailer::TAIL_LEN..];
/// assert_eq!(Trailer::len_from_tail(tail)?, 35);
/// assert!(Trailer::decode(&bytes)?.vlmetalayers.is_empty());
/// # Ok::<(), bloscpack_frames::wire::FrameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trailer {
    /// Metalayers whose length varies. Each value is a Blosc2 chunk, kept as it is.
    pub vlmetalayers: Metalayers,
}

impl Trailer {
    /// Bytes at the end of a frame that tell how long its trailer is.
    pub const TAIL_LEN: usize = 23;
    /// Bytes of a trailer without metalayers.
    pub const MIN_LEN: usize = 35;

    /// Bytes of the trailer of a frame that ends with these [`Trailer::TAIL_LEN`] bytes, 35 at least.
    ///
    /// # Errors
    /// [`Fault::CutShort`] for fewer bytes, [`Fault::Unsupported`] if there is a fingerprint,
    /// [`Fault::Damaged`] if this is no end of a trailer. Positions are those within the tail.
    pub fn len_from_tail(tail: &[u8]) -> Result<u32, FrameError> {
        read_tail(&mut Cursor::new("end of the frame trailer", tail))
    }

    /// Reads a trailer, which has to have all of these bytes.
    ///
    /// # Errors
    /// [`Fault::CutShort`] if bytes are missing, [`Fault::Unsupported`] for another version or a
    /// fingerprint, [`Fault::Damaged`] for anything else that no writer of frames writes.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        let mut cursor = Cursor::new(SECTION, bytes);
        cursor.marker(ARRAY | 4, "start")?;
        let version = cursor.byte("version")?;
        if version != VERSION {
            let what = format!("version {version}, should be {VERSION}");
            return Err(cursor.error(Fault::Unsupported, 1, what));
        }
        let vlmetalayers = Metalayers::decode(&mut cursor, Place::Trailer)?;
        let len = read_tail(&mut cursor)?;
        if usize::try_from(len) != Ok(cursor.at()) || cursor.at() != bytes.len() {
            let (ends, found) = (cursor.at(), bytes.len());
            let what = format!("it says {len} bytes and ends after {ends}, should be {found}");
            return Err(cursor.damaged(Self::TAIL_LEN, what));
        }
        Ok(Self { vlmetalayers })
    }

    /// Bytes that it takes.
    pub(crate) fn encoded_len(&self) -> usize {
        let layers = self.vlmetalayers.encoded_len();
        layers.saturating_add(2).saturating_add(Self::TAIL_LEN)
    }

    /// The trailer as Blosc2 writes it.
    ///
    /// # Errors
    /// [`Fault::Usage`] for more metalayers than a trailer has room for: 8192, 65,529 bytes of names,
    /// 2^31-1 bytes in all.
    pub fn encode(&self) -> Result<Vec<u8>, FrameError> {
        let mut bytes = vec![ARRAY | 4, VERSION];
        self.vlmetalayers.encode(&mut bytes, Place::Trailer)?;
        let len = u32::try_from(bytes.len().saturating_add(Self::TAIL_LEN));
        let len = len.map_err(|_| FrameError::usage(SECTION, "4 GiB or more"))?;
        put(&mut bytes, U32, &len.to_be_bytes());
        put(&mut bytes, SIXTEEN, &[0; 17]);
        Ok(bytes)
    }
}

fn read_tail(cursor: &mut Cursor) -> Result<u32, FrameError> {
    let len = cursor.u32("length of the trailer")?;
    if usize::try_from(len).is_ok_and(|len| len < Trailer::MIN_LEN) {
        let what = format!("length: {len}, should be {} or more", Trailer::MIN_LEN);
        return Err(cursor.damaged(4, what));
    }
    cursor.marker(SIXTEEN, "fingerprint")?;
    let kind = cursor.byte("kind of the fingerprint")?;
    if kind != 0 {
        let what = format!("a fingerprint of kind {kind}, should be none");
        return Err(cursor.error(Fault::Unsupported, 1, what));
    }
    if cursor.array("fingerprint")? != [0; 16] {
        return Err(cursor.damaged(16, "a fingerprint where none should be: not all zeros"));
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What python-caterva 0.7.3 writes behind every array.
    const EMPTY: &[u8; 35] =
        b"\x94\x01\x93\xcd\x00\x06\xde\x00\x00\xdc\x00\x00\xce\x00\x00\x00\x23\xd8\0\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn an_empty_one() {
        let trailer = Trailer::decode(EMPTY).unwrap();
        assert_eq!(trailer, Trailer::default());
        assert_eq!(trailer.encode().unwrap(), EMPTY);
        assert_eq!(Trailer::len_from_tail(&EMPTY[12..]), Ok(35));
    }

    #[test]
    fn every_change_of_a_bit_and_every_cut_is_an_error() {
        for at in 0..EMPTY.len() * 8 {
            let mut bytes = *EMPTY;
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(Trailer::decode(&bytes).is_err(), "bit {at}");
        }
        for len in 0..EMPTY.len() {
            let error = Trailer::decode(&EMPTY[..len]).unwrap_err();
            assert_eq!(error.fault(), Fault::CutShort, "{len} bytes");
        }
        assert!(Trailer::decode(&[&EMPTY[..], b"\0"].concat()).is_err());
    }

    #[test]
    fn versions_and_fingerprints_to_come_are_unsupported() {
        for at in [1, 18] {
            let mut bytes = *EMPTY;
            bytes[at] = 2;
            let error = Trailer::decode(&bytes).unwrap_err();
            assert_eq!(error.fault(), Fault::Unsupported, "{error}");
        }
    }
}
