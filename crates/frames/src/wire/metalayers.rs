//! [`Metalayers`]: named metadata in the header or in the trailer of a frame.
//!
//! ```text
//! 93 | cd u16 len | de u16 n | n x (aL name, d2 i32 offset)  | dc u16 n | n x (c6 i32 len, bytes)
//! ^     ^-- counted from the 93 in a header, from the cd in a trailer, up to the dc
//! '-- offsets of the c6, from the first byte of the header or of the trailer
//! ```
//!
//! Values follow each other in the order of the names. Other offsets are refused, so values cannot overlap.

use super::cursor::{ARRAY, BYTES, Cursor, I32, LONG_ARRAY, MAP, TEXT, U16, as_i32, put};
use crate::part::FramePart;
use bloscpack_error::Result;
use bloscpack_error::checked::to_usize;
use std::collections::HashSet;

/// Bytes of the longest name.
const MAX_NAME: u8 = 31;
/// Bytes of `93 cd u16 de u16`.
const START: usize = 7;
/// Bytes of `dc u16`.
const MIDDLE: usize = 3;
/// Bytes of `aL` and `d2 i32`: an entry without its name.
const ENTRY: usize = 6;
/// Bytes of `c6 i32`: a value without its content.
const VALUE: usize = 5;
const PART: FramePart = FramePart::Metalayers;

/// Named byte strings, in the order of the file. Names are 1 to 31 bytes long.
///
/// A header has at most 16 metalayers; changing the length of one rewrites the whole file. A trailer has at most 8192
/// metalayers of any length (*vlmetalayers*); each value in it is a Blosc2 chunk, which [`Frame`](crate::Frame) compresses and
/// decompresses.
///
/// ```
/// use bloscpack_frames::Metalayers;
/// let mut metalayers = Metalayers::new();
/// metalayers.set("b2nd", vec![1])?;
/// metalayers.set("unit", b"K".to_vec())?;
/// metalayers.set("b2nd", vec![2])?;
/// assert_eq!(metalayers.get("b2nd"), Some(&[2][..]));
/// assert!(metalayers.iter().map(|(name, _)| name).eq(["b2nd", "unit"]));
/// assert!(metalayers.set("", vec![]).is_err());
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metalayers(Vec<(String, Vec<u8>)>);

/// Whether metalayers are in a header or in a trailer. It decides how their lengths are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Header,
    Trailer,
}

impl Holder {
    /// Bytes of [`START`] that the length field does not count.
    fn uncounted(self) -> usize {
        match self {
            Self::Header => 0,
            Self::Trailer => 1,
        }
    }

    /// The maximum number of metalayers in Blosc2: `BLOSC2_MAX_METALAYERS` and `BLOSC2_MAX_VLMETALAYERS`.
    fn most(self) -> u16 {
        match self {
            Self::Header => 16,
            Self::Trailer => 8192,
        }
    }
}

impl Metalayers {
    /// No metalayers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of metalayers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no metalayers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a metalayer; `None` if there is none with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter()
            .find_map(|(other, bytes)| (other == name).then_some(bytes))
    }

    /// All names with their values, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// Replaces the value of a metalayer, or appends a new one. The number of metalayers is checked when they are encoded.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`](bloscpack_error::Code::CannotStore) for a name of 0 or more than 31 bytes, and for a value
    /// of 2^31 bytes or more.
    pub fn set(&mut self, name: &str, bytes: Vec<u8>) -> Result<()> {
        name_len(name)?;
        as_i32(&PART, "length", bytes.len())?;
        match self.0.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = bytes,
            None => self.0.push((name.to_owned(), bytes)),
        }
        Ok(())
    }

    /// Removes a metalayer and returns its value; `None` if there is none with this name.
    pub fn remove(&mut self, name: &str) -> Option<Vec<u8>> {
        let at = self.0.iter().position(|(other, _)| other == name)?;
        Some(self.0.remove(at).1)
    }

    /// Reads metalayers at the position of the cursor, and moves it past the last value. A repeated name is damage.
    pub(super) fn decode(cursor: &mut Cursor, holder: Holder) -> Result<Self> {
        let start = cursor.at();
        cursor.marker(ARRAY | 3, "metalayers")?;
        let names_len = cursor.u16("length of the names of metalayers")?;
        let count = cursor.entries(MAP, "number of metalayers")?;
        if count > holder.most() {
            let expected = format!("at most {}", holder.most());
            return Err(cursor.damaged(2, "number of metalayers", count, expected));
        }
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for _ in 0..count {
            let name = read_name(cursor)?;
            if !seen.insert(name) {
                let found = format!("{name:?} twice");
                return Err(cursor.damaged(name.len(), "name of a metalayer", found, "it once"));
            }
            let offset = cursor.i32("offset of a metalayer")?;
            names.push((name, offset, cursor.at()));
        }
        let found = cursor.at() - start - holder.uncounted();
        if found != usize::from(names_len) {
            return Err(cursor.damaged(
                0,
                "length of the names of metalayers",
                names_len,
                format!("{found}, up to here"),
            ));
        }
        read_values(cursor, count, &names).map(Self)
    }

    /// Bytes that [`encode`](Self::encode) appends. All of them are in memory, so the sum does not overflow.
    pub(super) fn encoded_len(&self) -> usize {
        let each = |(name, bytes): &(String, Vec<u8>)| ENTRY + name.len() + VALUE + bytes.len();
        START + MIDDLE + self.0.iter().map(each).sum::<usize>()
    }

    /// Bytes of all names with their offsets.
    fn names_len(&self) -> usize {
        self.0.iter().map(|(name, _)| ENTRY + name.len()).sum()
    }

    /// Appends the metalayers to `to`, which contains everything before them: offsets are counted from its first byte.
    pub(super) fn encode(&self, to: &mut Vec<u8>, holder: Holder) -> Result<()> {
        let (count, names_len) = self.counts(holder)?;
        to.push(ARRAY | 3);
        put(to, U16, &names_len.to_be_bytes());
        put(to, MAP, &count.to_be_bytes());
        let mut offset = to.len() + self.names_len() + MIDDLE;
        for (name, bytes) in &self.0 {
            put(to, TEXT | name_len(name)?, name.as_bytes());
            put(to, I32, &as_i32(&PART, "offset", offset)?);
            offset += VALUE + bytes.len();
        }
        put(to, LONG_ARRAY, &count.to_be_bytes());
        for (_, bytes) in &self.0 {
            put(to, BYTES, &as_i32(&PART, "length", bytes.len())?);
            to.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Refuses more metalayers than a header can hold, with [`Code::CannotStore`](bloscpack_error::Code::CannotStore).
    pub(crate) fn check_header(&self) -> Result<()> {
        self.counts(Holder::Header).map(|_| ())
    }

    /// Refuses more metalayers than a trailer can hold, with [`Code::CannotStore`](bloscpack_error::Code::CannotStore).
    pub(crate) fn check_trailer(&self) -> Result<()> {
        self.counts(Holder::Trailer).map(|_| ())
    }

    /// The number of metalayers and the bytes of their names, as the file stores them.
    fn counts(&self, holder: Holder) -> Result<(u16, u16)> {
        let most = holder.most();
        let names_len = START - holder.uncounted() + self.names_len();
        match (u16::try_from(self.len()), u16::try_from(names_len)) {
            (Ok(count), Ok(names_len)) if count <= most => Ok((count, names_len)),
            _ => Err(PART.cannot_store(
                "number of metalayers",
                format!("{} with {names_len} bytes of names", self.len()),
                format!("at most {most} with {} bytes", u16::MAX),
            )),
        }
    }
}

/// The length of a name as the file stores it, or [`Code::CannotStore`](bloscpack_error::Code::CannotStore).
fn name_len(name: &str) -> Result<u8> {
    let len = u8::try_from(name.len()).ok();
    len.filter(|len| (1..=MAX_NAME).contains(len))
        .ok_or_else(|| {
            let found = format!("of {} bytes", name.len());
            PART.cannot_store("name", found, format!("1 to {MAX_NAME}"))
        })
}

/// Reads a name: UTF-8, 1 to 31 bytes.
fn read_name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str> {
    let field = "name of a metalayer";
    let marker = cursor.byte()?;
    let len = marker ^ TEXT;
    if len == 0 || len > MAX_NAME {
        let found = format!("marker {marker:02x}");
        return Err(cursor.damaged(1, field, found, "a1 to bf"));
    }
    let bytes = cursor.take(len.into())?;
    std::str::from_utf8(bytes).map_err(|_| {
        let found = format!("\"{}\"", bytes.escape_ascii());
        cursor.damaged(bytes.len(), field, found, "UTF-8")
    })
}

/// Reads the values for these names. Each name comes with its offset, and with the position at which that field ends.
fn read_values(
    cursor: &mut Cursor,
    count: u16,
    names: &[(&str, i32, usize)],
) -> Result<Vec<(String, Vec<u8>)>> {
    let found = cursor.entries(LONG_ARRAY, "number of values of metalayers")?;
    if found != count {
        let expected = format!("{count}, one for each name");
        return Err(cursor.damaged(2, "number of values of metalayers", found, expected));
    }
    let mut metalayers = Vec::with_capacity(names.len());
    for (name, offset, offset_end) in names {
        let at = cursor.at();
        if usize::try_from(*offset) != Ok(at) {
            let (back, found) = (at + 4 - offset_end, format!("{offset} for {name:?}"));
            return Err(cursor.damaged(back, "offset of a metalayer", found, at));
        }
        let len = cursor.count32(BYTES, "length of a metalayer")?;
        let bytes = cursor.take(to_usize(len))?;
        metalayers.push(((*name).to_owned(), bytes.to_vec()));
    }
    Ok(metalayers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bloscpack_error::Category;

    /// Two names with values of 2 and 0 bytes, in a trailer that has 2 bytes before.
    const TWO: &[u8] =
        b"\x94\x01\x93\xcd\x00\x14\xde\x00\x02\xa1x\xd2\0\0\0\x1a\xa1y\xd2\0\0\0\x21\
        \xdc\x00\x02\xc6\0\0\0\x02ab\xc6\0\0\0\x00";

    fn decoded(bytes: &[u8]) -> Result<Metalayers> {
        let mut cursor = Cursor::new(FramePart::Trailer, bytes);
        cursor.take(2).unwrap();
        let metalayers = Metalayers::decode(&mut cursor, Holder::Trailer)?;
        assert_eq!(cursor.at(), bytes.len());
        Ok(metalayers)
    }

    #[test]
    fn two_of_a_trailer() {
        let two = decoded(TWO).unwrap();
        assert!(two.iter().eq([("x", &b"ab"[..]), ("y", &b""[..])]));
        let mut bytes = TWO[..2].to_vec();
        two.encode(&mut bytes, Holder::Trailer).unwrap();
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
            (10, 0xff), // not UTF-8
            (15, 0x1b), // offset
            (22, 0x1a), // a value that another name has
            (25, 1),    // number of values
            (30, 3),    // length of a value
        ] {
            let mut bytes = TWO.to_vec();
            bytes[at] = byte;
            let error = decoded(&bytes).unwrap_err();
            assert_eq!(error.category(), Category::Damaged, "byte {at}: {error}");
        }
        for len in 2..TWO.len() {
            assert_eq!(
                decoded(&TWO[..len]).unwrap_err().category(),
                Category::CutShort
            );
        }
    }

    #[test]
    fn no_more_than_can_be_counted() {
        let mut many = Metalayers::new();
        for i in 0..17 {
            many.set(&format!("{i:031}"), Vec::new()).unwrap();
        }
        assert!(many.encode(&mut Vec::new(), Holder::Trailer).is_ok());
        let error = many.encode(&mut Vec::new(), Holder::Header).unwrap_err();
        assert_eq!(error.category(), Category::Usage);
        assert_eq!(many.remove(&format!("{:031}", 3)), Some(Vec::new()));
        assert!(many.encode(&mut Vec::new(), Holder::Header).is_ok());
        for i in 17..2000 {
            many.set(&format!("{i:031}"), Vec::new()).unwrap();
        }
        assert!(many.encode(&mut Vec::new(), Holder::Trailer).is_err());
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
