//! Builds a directory from an input.
//!
//! ```text
//! input  base u8 | edit | edit ...                  base 0 is empty, the others are in `bases.rs`
//! edit   what u8 | name | by what:
//!        0 write    length u16 | bytes              the whole file
//!        1 put      at u16 | length u8 | bytes      bytes of it
//!        2 cut      length u16
//!        3 remove
//!        4 rename   name
//!        5 folder
//!        6 seal     the checksums of a journal are made right
//! name   below 128: the file of this number; else its length and 128, and as many bytes
//! ```
//!
//! Numbers are little-endian. Missing bytes at the end are zeros.

use super::bases;
use super::files::Files;
use bloscpack::storage::Key;

/// More edits, and more bytes of a file, are not worth the time.
const MOST_EDITS: usize = 64;
const ENOUGH: usize = 1 << 16;
/// Head of a journal, its checksum included.
const HEAD: usize = 68;

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    fn number(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    fn bytes(&mut self, len: usize) -> &'a [u8] {
        let bytes;
        (bytes, self.0) = self.0.split_at(len.min(self.0.len()));
        bytes
    }

    fn name(&mut self, files: &Files) -> Option<Key> {
        match self.byte() {
            number @ 0..128 => {
                let count = files.0.len();
                let number = usize::from(number).checked_rem(count)?;
                files.0.keys().nth(number).cloned()
            }
            len => {
                let name = self.bytes(usize::from(len - 128));
                Key::parse(std::str::from_utf8(name).ok()?)
                    .ok()
                    .filter(|key| *key != Key::root())
            }
        }
    }
}

/// The directory; nothing if the input is.
pub fn files(input: &[u8]) -> Option<Files> {
    let mut input = Input(input);
    let mut files = if input.0.is_empty() {
        return None;
    } else {
        bases::base(input.byte())
    };
    for _ in 0..MOST_EDITS {
        if input.0.is_empty() {
            break;
        }
        edit(&mut files, &mut input);
    }
    // As a store has them: with the folders on the way, and no file below another.
    Some(Files::of(&files.store()))
}

fn edit(files: &mut Files, input: &mut Input<'_>) {
    let what = input.byte() % 7;
    let Some(key) = input.name(files) else { return };
    match what {
        0 => {
            let len = input.number();
            files.0.insert(key, Some(input.bytes(len).to_vec()));
        }
        3 => {
            files.0.remove(&key);
        }
        4 => {
            if let Some(to) = input.name(files)
                && let Some(bytes) = files.0.remove(&key)
            {
                files.0.insert(to, bytes);
            }
        }
        5 => {
            files.0.insert(key, None);
        }
        _ => {
            let at = input.number();
            if let Some(Some(bytes)) = files.0.get_mut(&key) {
                change(bytes, what, at, input);
            }
        }
    }
}

fn change(bytes: &mut Vec<u8>, what: u8, at: usize, input: &mut Input<'_>) {
    match what {
        1 => {
            let len = input.byte().into();
            let new = input.bytes(len);
            let at = at.min(bytes.len());
            let end = (at + new.len()).min(ENOUGH);
            bytes.resize(bytes.len().max(end), 0);
            bytes[at..end].copy_from_slice(&new[..end - at]);
        }
        2 => bytes.truncate(at),
        _ => seal(bytes),
    }
}

/// Both checksums of a journal.
fn seal(journal: &mut [u8]) {
    if let Some((head, sum)) = journal
        .get_mut(..HEAD)
        .and_then(|head| head.split_last_chunk_mut())
    {
        *sum = crc32fast::hash(head).to_le_bytes();
        if let Some((all, sum)) = journal.split_last_chunk_mut() {
            *sum = crc32fast::hash(all).to_le_bytes();
        }
    }
}
