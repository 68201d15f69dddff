//! [`Trailer`]: the last bytes of a frame, with metalayers of varying length.
//!
//! ```text
//! 0    1    2
//! 94 | 01 | metalayers | ce u32 length | d8 kind, 16 bytes: fingerprint | end of file
//!                        ^-- 23 bytes before the end
//! ```
//!
//! C-Blosc2 writes kind 0 and zeros whenever it writes a trailer, and never reads the fingerprint.

use super::cursor::{ARRAY, Cursor, SIXTEEN, U32, put};
use super::metalayers::{Holder, Metalayers};
use crate::part::FramePart;
use bloscpack_error::Result;
use bloscpack_error::checked::to_usize;

/// The version of the trailer.
const VERSION: u8 = 1;
/// [`Trailer::MIN_LEN`] in the width of the file.
const MIN_LEN: u32 = 35;
/// The kind for "no fingerprint", and that for one of 128 bits.
const NO_FINGERPRINT: u8 = 0;
const WIDE_FINGERPRINT: u8 = 3;

/// The trailer of a frame: vlmetalayers and fingerprint.
///
/// ```
/// use bloscpack_frames::wire::Trailer;
/// let bytes = Trailer::default().encode()?;
/// let tail = &bytes[bytes.len() - Trailer::TAIL_LEN..];
/// assert_eq!(Trailer::len_from_tail(tail)?, 35);
/// assert!(Trailer::decode(&bytes)?.vlmetalayers.is_empty());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trailer {
    /// Metalayers of varying length. Each value is a Blosc2 chunk, in compressed form.
    pub vlmetalayers: Metalayers,
    /// The digest of all bytes of the frame before it; `None` if the frame has none. Any change of the frame invalidates it.
    pub fingerprint: Option<[u8; 16]>,
}

impl Trailer {
    /// The last bytes of a frame, which contain the length of its trailer.
    pub const TAIL_LEN: usize = 23;
    /// Bytes of a trailer without metalayers.
    pub const MIN_LEN: usize = to_usize(MIN_LEN);
    /// Bytes of a fingerprint, the last bytes of a frame.
    pub const FINGERPRINT_LEN: usize = 16;
    /// The byte before a fingerprint of 128 bits.
    pub(crate) const FINGERPRINT_KIND: u8 = WIDE_FINGERPRINT;

    /// The length of a trailer in bytes, from its last [`Trailer::TAIL_LEN`] bytes. It is at least [`Trailer::MIN_LEN`], but
    /// may exceed the file.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`](bloscpack_error::Code::CutShort) for fewer bytes,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for a fingerprint that is not of 128 bits, and
    /// [`Damaged`](bloscpack_error::Category::Damaged) if a trailer does not end with these bytes. Positions in errors are
    /// relative to `tail`.
    pub fn len_from_tail(tail: &[u8]) -> Result<u32> {
        read_tail(&mut Cursor::new(FramePart::TrailerEnd, tail)).map(|(len, _)| len)
    }

    /// Reads a trailer, which must consist of exactly these bytes.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`](bloscpack_error::Code::CutShort) if bytes are missing,
    /// [`Code::Unsupported`](bloscpack_error::Code::Unsupported) for another version or kind of fingerprint, and
    /// [`Damaged`](bloscpack_error::Category::Damaged) for everything else that no program writes, such as further bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FramePart::Trailer, bytes);
        cursor.marker(ARRAY | 4, "start")?;
        let version = cursor.byte()?;
        if version != VERSION {
            return Err(cursor.unsupported(1, "version", version, VERSION));
        }
        let vlmetalayers = Metalayers::decode(&mut cursor, Holder::Trailer)?;
        let (len, fingerprint) = read_tail(&mut cursor)?;
        let len = to_usize(len);
        if len != cursor.at() || cursor.at() != bytes.len() {
            let found = format!("{len}, with a last byte at {}", cursor.at() - 1);
            return Err(cursor.damaged(Self::TAIL_LEN, "length", found, bytes.len()));
        }
        Ok(Self {
            vlmetalayers,
            fingerprint,
        })
    }

    /// Bytes that [`encode`](Self::encode) returns.
    pub(crate) fn encoded_len(&self) -> usize {
        2 + self.vlmetalayers.encoded_len() + Self::TAIL_LEN
    }

    /// The trailer as Blosc2 writes it, with the fingerprint if there is one.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for more metalayers than a trailer can hold: 8192,
    /// 65,529 bytes of names (each counted with six more bytes), or 2^31-1 bytes in total.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![ARRAY | 4, VERSION];
        self.vlmetalayers.encode(&mut bytes, Holder::Trailer)?;
        let len = bytes.len() + Self::TAIL_LEN;
        let len = u32::try_from(len)
            .map_err(|_| FramePart::Trailer.cannot_store("length", len, "less than 4 GiB"))?;
        put(&mut bytes, U32, &len.to_be_bytes());
        let (kind, fingerprint) = match self.fingerprint {
            Some(fingerprint) => (WIDE_FINGERPRINT, fingerprint),
            None => (NO_FINGERPRINT, [0; 16]),
        };
        put(&mut bytes, SIXTEEN, &[kind]);
        bytes.extend_from_slice(&fingerprint);
        Ok(bytes)
    }
}

/// Reads the length of the trailer and the fingerprint. Without a fingerprint, its bytes must be zeros.
fn read_tail(cursor: &mut Cursor) -> Result<(u32, Option<[u8; 16]>)> {
    let len = cursor.u32("length")?;
    if len < MIN_LEN {
        return Err(cursor.damaged(4, "length", len, format!("at least {MIN_LEN}")));
    }
    cursor.marker(SIXTEEN, "fingerprint")?;
    let kind = cursor.byte()?;
    if ![NO_FINGERPRINT, WIDE_FINGERPRINT].contains(&kind) {
        let expected = "0: none, or 3: 128 bits";
        return Err(cursor.unsupported(1, "kind of fingerprint", kind, expected));
    }
    let fingerprint = cursor.array()?;
    if kind == WIDE_FINGERPRINT {
        return Ok((len, Some(fingerprint)));
    }
    if fingerprint == [0; 16] {
        Ok((len, None))
    } else {
        Err(cursor.damaged(
            16,
            "fingerprint",
            "other bytes",
            "zeros, since there is none",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_error::Category;

    /// The trailer that python-caterva 0.7.3 writes for every array.
    const EMPTY: &[u8; 35] =
        b"\x94\x01\x93\xcd\x00\x06\xde\x00\x00\xdc\x00\x00\xce\x00\x00\x00\x23\xd8\0\
        \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

    #[test]
    fn an_empty_trailer_is_read_and_written() {
        let trailer = Trailer::decode(EMPTY).unwrap();
        assert_eq!(trailer, Trailer::default());
        assert_eq!(trailer.encode().unwrap(), EMPTY);
        assert_eq!(Trailer::len_from_tail(&EMPTY[12..]).unwrap(), 35);
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
            assert_eq!(error.category(), Category::CutShort, "{len} bytes");
        }
        assert!(Trailer::decode(&[&EMPTY[..], b"\0"].concat()).is_err());
    }

    #[test]
    fn other_versions_and_fingerprints_are_unsupported() {
        for at in [1, 18] {
            let mut bytes = *EMPTY;
            bytes[at] = 2;
            let error = Trailer::decode(&bytes).unwrap_err();
            assert_eq!(error.category(), Category::Unsupported, "{error}");
        }
    }

    #[test]
    fn a_fingerprint_is_read_and_written() {
        let mut bytes = *EMPTY;
        (bytes[18], bytes[34]) = (3, 7);
        let mut expected = [0; 16];
        expected[15] = 7;
        let trailer = Trailer::decode(&bytes).unwrap();
        assert_eq!(trailer.fingerprint, Some(expected));
        assert_eq!(trailer.encode().unwrap(), bytes);
        assert_eq!(Trailer::len_from_tail(&bytes[12..]).unwrap(), 35);
    }
}
