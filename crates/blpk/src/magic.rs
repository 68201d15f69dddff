//! The first bytes of a file, which say what it is.

use std::io;

use bloscpack::{
    storage::ReadAt,
    wire::{MARK, internal::MAGIC},
};

use bloscpack::wire::internal::to_u64;

/// The first bytes of a Blosc2 frame.
const FRAME: &[u8; 10] = b"\x9e\xa8b2frame\0";

/// Whether a Bloscpack file begins here. It may be in the middle of a change, or cut within its first bytes.
pub fn is_bloscpack(file: &impl ReadAt) -> io::Result<bool> {
    let mut first = [0; MAGIC.len()];
    let first = begin(file, &mut first)?;
    Ok(!first.is_empty() && (MAGIC.starts_with(first) || marked(&MAGIC).starts_with(first)))
}

/// Whether a frame begins here. It may be in the middle of a change, or cut within its first bytes.
pub fn is_frame(file: &impl ReadAt) -> io::Result<bool> {
    let mut first = [0; FRAME.len()];
    let first = begin(file, &mut first)?;
    Ok(!first.is_empty() && FRAME.starts_with(first) || first == marked(FRAME))
}

/// Whether a change to this file was begun and not ended.
pub fn is_marked(file: &impl ReadAt) -> bool {
    let mut first = [0; MAGIC.len()];
    let is_marked_file = begin(file, &mut first).is_ok_and(|first| first == marked(&MAGIC));
    is_marked_file || is_marked_frame(file)
}

/// Whether a change to this frame was begun and not ended.
pub fn is_marked_frame(file: &impl ReadAt) -> bool {
    let mut first = [0; FRAME.len()];
    begin(file, &mut first).is_ok_and(|first| first == marked(FRAME))
}

/// The first bytes of a file of this kind while a change is made to it.
fn marked<const N: usize>(magic: &[u8; N]) -> [u8; N] {
    let mut marked = *magic;
    marked[0] = MARK;
    marked
}

/// Reads the first bytes, or as many as there are.
fn begin<'a>(file: &impl ReadAt, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let (mut len, mut at) = (0, 0);
    while let Some(rest) = buffer.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match file.read_at(at, rest) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => break,
            Ok(count) => {
                len += count;
                at += to_u64(count);
            }
        }
    }
    Ok(&buffer[..len])
}

#[cfg(test)]
mod tests {
    use super::{is_bloscpack, is_frame, is_marked};

    #[test]
    fn frames_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"\x9e\xa8b2frame\0\xd2"[..], true),
            (b"\x9e\xa8b2frame\0", true),
            (b"\x9e\xa8b2fr", true),
            (b"\x9e", true),
            (b"!\xa8b2frame\0\xd2", true),
            (b"", false),
            (b"!", false),
            (b"!\xa8b2fr", false),
            (b"blpk\x03\0\0\0\0\0\0\0", false),
            (b"\x9e\xa8b2frame\x01\xd2", false),
        ] {
            assert_eq!(is_frame(&bytes.to_vec()).unwrap(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"blpk\x03"[..], true),
            (b"bl", true),
            (b"!lpk\x03", true),
            (b"!", true),
            (b"", false),
            (b"\x9e\xa8b2frame\0", false),
        ] {
            assert_eq!(
                is_bloscpack(&bytes.to_vec()).unwrap(),
                expected,
                "{bytes:?}"
            );
        }
        for (bytes, expected) in [(&b"!lpk"[..], true), (b"!", false), (b"blpk", false)] {
            assert_eq!(is_marked(&bytes.to_vec()), expected, "{bytes:?}");
        }
    }
}
