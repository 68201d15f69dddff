//! Named pieces of bytes in the header and in the trailer of a frame.
//!
//! ```text
//! 93 | cd u16 len | de u16 n | n x (aL name, d2 i32 offset)  | dc u16 n | n x (c6 i32 len, bytes)
//! ^     ^-- counted from the 93 in a header, from the cd in a trailer, up to the dc
//! '-- offsets are those of each c6: from the first byte of the header, or of the trailer
//! ```
//!
//! Values lie in the order of the names, without gaps; offsets that say otherwise are refused, which
//! rules out values that overlap.

use super::cursor::{ARRAY, BYTES, Cursor, I32, LONG_ARRAY, MAP, TEXT, U16, as_i32, put};
use super::error::FrameError;
use std::collections::HashSet;

/// Longest name, in bytes.
const MAX_NAME: usize = 31;
/// `93 cd u16 de u16`
const START: usize = 7;
/// `dc u16`
const MIDDLE: usize = 3;
/// `aL`, and `d2 i32`
const ENTRY: usize = 6;
/// `c6 i32`
const VALUE: usize = 5;
const SECTION: &str = "metalayers";

/// Metalayers in the order of the file: names of 1 to 31 bytes, each with bytes.
///
/// Those of a header are 16 at most, and stay as long as they are; those of a trailer vary in length
/// ("vlmetalayers"), and each value there is a Blosc2 chunk.
///
/// ```
/// use bloscpack_frames::wire::Metalayers;
/// let mut metalayers = Metalayers::new();
/// metalayers.set("b2nd", vec![1])?;
/// metalayers.set("unit", b"K".to_vec())?;
/// metalayers.set("b2nd", vec![2])?;
/// assert_eq!(metalayers.get("b2nd"), Some(&[2][..]));
/// assert!(metalayers.iter().map(|(name, _)| name).eq(["b2nd", "unit"]));
/// assert!(metalayers.set("", vec![]).is_err());
/// # Ok::<(), bloscpack_frames::wire::FrameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metalayers(Vec<(String, Vec<u8>)>);

/// Where metalayers stand, which decides how they are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Header,
    Trailer,
}

impl Place {
    /// Bytes of [`START`] that the length does not count.
    fn uncounted(self) -> usize {
        match self {
            Self::Header => 0,
            Self::Trailer => 1,
        }
    }

    /// How many metalayers Blosc2 takes: `BLOSC2_MAX_METALAYERS` and `BLOSC2_MAX_VLMETALAYERS`.
    fn most(self) -> usize {
        match self {
            Self::Header => 16,
            Self::Trailer => 8192,
        }
    }
}

impl Metalayers {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes of the one with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter()
            .find_map(|(other, bytes)| (other == name).then_some(bytes))
    }

    /// All of them, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// Gives the one with this name other bytes, or adds it behind the others. How many there may be is
    /// checked when they are encoded.
    ///
    /// # Errors
    /// [`Fault::Usage`](blosc1::Fault::Usage) for a name that is empty or longer than 31 bytes, and for
    /// 2^31 bytes or more.
    pub fn set(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), FrameError> {
        if name.is_empty() || name.len() > MAX_NAME {
            let what = format!("a name of {} bytes, should be 1 to {MAX_NAME}", name.len());
            return Err(FrameError::usage(SECTION, what));
        }
        as_i32(SECTION, "length of a metalayer", bytes.len())?;
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = bytes,
            None => self.0.push((name.to_owned(), bytes)),
        }
        Ok(())
    }

    /// Takes out the one with this name.
    pub fn remove(&mut self, name: &str) -> Option<Vec<u8>> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
    }

    /// Reads them from where the cursor is, which stands behind the last value then.
    pub(super) fn decode(cursor: &mut Cursor, place: Place) -> Result<Self, FrameError> {
        let start = cursor.at();
        cursor.marker(ARRAY | 3, "metalayers")?;
        let index_len = cursor.u16("length of the names of metalayers")?;
        let count = cursor.entries(MAP, "number of metalayers")?;
        if usize::from(count) > place.most() {
            let what = format!("{count} metalayers, should be {} at most", place.most());
            return Err(cursor.damaged(2, what));
        }
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for _ in 0..count {
            let name = name(cursor)?;
            if !seen.insert(name) {
                let what = format!("metalayer \"{name}\" is there twice");
                return Err(cursor.damaged(name.len(), what));
            }
            let offset = cursor.i32("offset of a metalayer")?;
            names.push((name, offset, cursor.at()));
        }
        let found = (cursor.at() - start).saturating_sub(place.uncounted());
        if found != usize::from(index_len) {
            let what = format!("names of metalayers: {found} bytes, should be {index_len}");
            return Err(cursor.damaged(0, what));
        }
        values(cursor, count, &names).map(Self)
    }

    /// Bytes that they take.
    pub(super) fn encoded_len(&self) -> usize {
        let each = |(name, bytes): &(String, Vec<u8>)| ENTRY + name.len() + VALUE + bytes.len();
        let all = self.0.iter().map(each);
        all.fold(START + MIDDLE, usize::saturating_add)
    }

    /// Appends them to the header or the trailer that `to` begins with.
    pub(super) fn encode(&self, to: &mut Vec<u8>, place: Place) -> Result<(), FrameError> {
        let (count, index_len) = self.counts(place)?;
        to.push(ARRAY | 3);
        put(to, U16, &index_len.to_be_bytes());
        put(to, MAP, &count.to_be_bytes());
        let names = self.0.iter().map(|(name, _)| ENTRY + name.len());
        let mut offset = names.fold(to.len() + MIDDLE, usize::saturating_add);
        for (name, bytes) in &self.0 {
            let len = u8::try_from(name.len()).unwrap_or_default();
            put(to, TEXT | len, name.as_bytes());
            put(to, I32, &as_i32(SECTION, "offset of a metalayer", offset)?);
            offset = offset.saturating_add(VALUE).saturating_add(bytes.len());
        }
        put(to, LONG_ARRAY, &count.to_be_bytes());
        for (_, bytes) in &self.0 {
            let len = as_i32(SECTION, "length of a metalayer", bytes.len())?;
            put(to, BYTES, &len);
            to.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Refuses more than a header has room for.
    pub(crate) fn check_header(&self) -> Result<(), FrameError> {
        self.counts(Place::Header).map(|_| ())
    }

    /// Refuses more than a trailer has room for.
    pub(crate) fn check_trailer(&self) -> Result<(), FrameError> {
        self.counts(Place::Trailer).map(|_| ())
    }

    /// How many, and the bytes of their names.
    fn counts(&self, place: Place) -> Result<(u16, u16), FrameError> {
        let (len, most) = (self.len(), place.most());
        let names = self.0.iter().map(|(name, _)| ENTRY + name.len());
        let index_len = names.fold(START - place.uncounted(), usize::saturating_add);
        match (u16::try_from(len), u16::try_from(index_len)) {
            (Ok(count), Ok(index_len)) if len <= most => Ok((count, index_len)),
            _ => {
                let what = format!(
                    "{len} with {index_len} bytes of names, can be {most} with {} bytes at most",
                    u16::MAX
                );
                Err(FrameError::usage(SECTION, what))
            }
        }
    }
}

fn name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, FrameError> {
    let marker = cursor.byte("name of a metalayer")?;
    let len = usize::from(marker ^ TEXT);
    if len == 0 || len > MAX_NAME {
        let what = format!("name of a metalayer: marker {marker:02x}, should be a1 to bf");
        return Err(cursor.damaged(1, what));
    }
    let bytes = cursor.take(len, "name of a metalayer")?;
    std::str::from_utf8(bytes).map_err(|_| {
        let found = bytes.escape_ascii();
        let what = format!("name of a metalayer: \"{found}\", should be UTF-8");
        cursor.damaged(len, what)
    })
}

/// The values of these names; each with its offset, and where that ends.
fn values(
    cursor: &mut Cursor,
    count: u16,
    names: &[(&str, i32, usize)],
) -> Result<Vec<(String, Vec<u8>)>, FrameError> {
    let found = cursor.entries(LONG_ARRAY, "number of values of metalayers")?;
    if found != count {
        let what = format!("{found} values of metalayers, should be {count}, as many as names");
        return Err(cursor.damaged(2, what));
    }
    let mut metalayers = Vec::with_capacity(names.len());
    for (name, offset, offset_end) in names {
        if usize::try_from(*offset) != Ok(cursor.at()) {
            let expected = cursor.at();
            let what = format!("offset of metalayer \"{name}\": {offset}, should be {expected}");
            return Err(cursor.damaged(expected + 4 - offset_end, what));
        }
        let len = cursor.count32(BYTES, "length of a metalayer")?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let bytes = cursor.take(len, "bytes of a metalayer")?;
        metalayers.push(((*name).to_owned(), bytes.to_vec()));
    }
    Ok(metalayers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc1::Fault;

    /// Two names with values of 2 and 0 bytes, in a trailer that has 2 bytes before.
    const TWO: &[u8] =
        b"\x94\x01\x93\xcd\x00\x14\xde\x00\x02\xa1x\xd2\0\0\0\x1a\xa1y\xd2\0\0\0\x21\
        \xdc\x00\x02\xc6\0\0\0\x02ab\xc6\0\0\0\x00";

    fn decoded(bytes: &[u8]) -> Result<Metalayers, FrameError> {
        let mut cursor = Cursor::new("frame trailer", bytes);
        cursor.take(2, "start").unwrap();
        let metalayers = Metalayers::decode(&mut cursor, Place::Trailer)?;
        assert_eq!(cursor.at(), bytes.len());
        Ok(metalayers)
    }

    #[test]
    fn two_of_a_trailer() {
        let two = decoded(TWO).unwrap();
        assert!(two.iter().eq([("x", &b"ab"[..]), ("y", &b""[..])]));
        let mut bytes = TWO[..2].to_vec();
        two.encode(&mut bytes, Place::Trailer).unwrap();
        assert_eq!(bytes, TWO);
        assert_eq!(two.encoded_len(), TWO.len() - 2);
    }

    #[test]
    fn contradictions_are_damage_and_missing_bytes_are_cut_short() {
        for (at, byte) in [
            (2, 0x94),  // marker
            (5, 0x15),  // length of the names
            (8, 3),     // their number
            (9, 0xa0),  // an empty name
            (10, b'y'), // twice
            (10, 0xff), // no UTF-8
            (15, 0x1b), // offset
            (22, 0x1a), // a value that another name has
            (25, 1),    // number of values
            (30, 3),    // length of a value
        ] {
            let mut bytes = TWO.to_vec();
            bytes[at] = byte;
            let error = decoded(&bytes).unwrap_err();
            assert_eq!(error.fault(), Fault::Damaged, "byte {at}: {error}");
        }
        for len in 2..TWO.len() {
            assert_eq!(decoded(&TWO[..len]).unwrap_err().fault(), Fault::CutShort);
        }
    }

    #[test]
    fn no_more_than_can_be_counted() {
        let mut many = Metalayers::new();
        for i in 0..17 {
            many.set(&format!("{i:031}"), Vec::new()).unwrap();
        }
        assert!(many.encode(&mut Vec::new(), Place::Trailer).is_ok());
        let error = many.encode(&mut Vec::new(), Place::Header).unwrap_err();
        assert_eq!(error.fault(), Fault::Usage);
        assert_eq!(many.remove(&format!("{:031}", 3)), Some(Vec::new()));
        assert!(many.encode(&mut Vec::new(), Place::Header).is_ok());
        for i in 17..2000 {
            many.set(&format!("{i:031}"), Vec::new()).unwrap();
        }
        assert!(many.encode(&mut Vec::new(), Place::Trailer).is_err());
    }

    #[test]
    fn names_have_their_bounds() {
        let mut metalayers = Metalayers::new();
        assert!(metalayers.set(&"x".repeat(31), Vec::new()).is_ok());
        assert!(metalayers.set(&"x".repeat(32), Vec::new()).is_err());
        assert!(metalayers.set("", Vec::new()).is_err());
        assert_eq!(metalayers.remove("y"), None);
    }
}
