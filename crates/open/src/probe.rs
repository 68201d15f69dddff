//! [`probe`]: finds the family of an input by its first bytes or its marker files.

use crate::exchange::Format;
use bloscpack_storage::{Key, ReadAt, Store};
use bloscpack_wire::internal::to_u64;
use bloscpack_wire::{MARK, internal::MAGIC};
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The number of bytes that suffice.
const LOOK: usize = 10;
/// The first bytes of ZIP archives, with and without files.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// What shows about an input without opening it.
///
/// ```
/// use bloscpack_open::{Family, probe_source};
/// let mut file = bloscpack::compress(b"content")?;
/// assert_eq!(probe_source(&file)?.family, Some(Family::Bloscpack));
/// // A change to the file was begun, and has not ended.
/// file[0] = b'!';
/// assert!(probe_source(&file)?.is_marked);
/// assert_eq!(probe_source(b"#!/bin/sh".as_slice())?.family, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Probe {
    /// The family; `None` for pipes, for paths that do not exist or cannot be read, and for bytes that are not recognized.
    pub family: Option<Family>,
    /// Whether a change to the file is unfinished: its first byte is `!`. Only [`open`](super::open), which reads the journal
    /// beside the file, sees the result of the change.
    pub is_marked: bool,
}

/// Inputs that are opened by the same function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// A Bloscpack file, with content or with records. It can also be read as a stream.
    Bloscpack,
    /// A Blosc2 frame: a file, which must be readable at any position, or the directory of a sparse frame.
    Frame,
    /// The directory of an array or table of bcolz, BLZ or carray.
    Dataset,
    /// The directory of a store of python-blosc2.
    Store,
    /// The directory of a Zarr array or group.
    Zarr,
    /// Any other directory. It may contain inputs.
    Directory,
    /// A ZIP archive, which is read like a directory.
    Archive,
    /// A NumPy, Arrow or Parquet file. Text formats can only be recognized by their names.
    File(Format),
}

/// The first bytes of files of other programs.
const FILES: [(&[u8], Format); 3] = [
    (b"\x93NUMPY", Format::Npy),
    (b"ARROW1", Format::Arrow),
    (b"PAR1", Format::Parquet),
];

/// The marker files of directories. If there are several, the first in this list counts.
const MARKS: [(&str, Family); 9] = [
    (bloscpack_frames::wire::METADATA_FILE, Family::Frame),
    (bloscpack_stores::EMBED_FILE, Family::Store),
    ("zarr.json", Family::Zarr),
    (".zarray", Family::Zarr),
    (".zgroup", Family::Zarr),
    ("__rootdirs__", Family::Dataset),
    ("meta/sizes", Family::Dataset),
    ("meta/storage", Family::Dataset),
    ("meta/shape", Family::Dataset),
];

/// The paths of marker files, relative to a directory.
pub fn marks() -> impl Iterator<Item = &'static str> {
    MARKS.iter().map(|(name, _)| *name)
}

/// The family of a folder, by its marker files.
fn by_marks(mut has: impl FnMut(&str) -> io::Result<bool>) -> io::Result<Family> {
    for (name, family) in MARKS {
        if has(name)? {
            return Ok(family);
        }
    }
    Ok(Family::Directory)
}

/// The family of the root of a store, by its marker files.
pub(crate) fn probe_folder(store: &dyn Store) -> io::Result<Family> {
    by_marks(|name| match store.kind(&Key::parse(name)?) {
        Ok(kind) => Ok(kind.is_some()),
        // A file stands where the path has a folder.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        Err(error) => Err(error),
    })
}

/// Finds the family of a path. Pipes and devices are not opened, because their writer would notice.
///
/// ```
/// # testkit::enter_testdata();
/// use bloscpack_open::{Family, probe};
/// assert_eq!(probe("testdata".as_ref())?.family, Some(Family::Directory));
/// assert_eq!(probe("nowhere".as_ref())?.family, None);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns errors of the file system, except about the name or permissions: such a path has no family, and opening it reports
/// the error.
pub fn probe(path: &Path) -> io::Result<Probe> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_about_name(&error) => return Ok(Probe::default()),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return directory(path);
    }
    if !metadata.is_file() {
        return Ok(Probe::default());
    }
    match File::open(path).and_then(|file| probe_source(&file)) {
        Err(error) if is_about_name(&error) => Ok(Probe::default()),
        probed => probed,
    }
}

/// Finds the family of a source by its first 10 bytes.
///
/// If the source ends within a magic number, it has the family of that number.
///
/// # Errors
/// Returns errors of the source.
pub fn probe_source<S: ReadAt + ?Sized>(source: &S) -> io::Result<Probe> {
    let mut first = [0; LOOK];
    Ok(probe_bytes(begin(source, &mut first)?))
}

/// Finds the family of an input by its first bytes. Ten suffice.
///
/// ```
/// use bloscpack_open::{Family, probe_bytes};
/// assert_eq!(probe_bytes(b"PK\x03\x04").family, Some(Family::Archive));
/// assert_eq!(probe_bytes(b"bl").family, Some(Family::Bloscpack));
/// assert_eq!(probe_bytes(b"day,close").family, None);
/// ```
#[must_use]
pub fn probe_bytes(first: &[u8]) -> Probe {
    {
        let magic = bloscpack_frames::wire::MAGIC;
        let is_marked = is_marked(first, magic);
        if is_marked || begins(first, magic) {
            return Probe {
                family: Some(Family::Frame),
                is_marked,
            };
        }
    }
    if ZIP.iter().any(|magic| first.starts_with(magic)) {
        return Probe {
            family: Some(Family::Archive),
            is_marked: false,
        };
    }
    if let Some((_, format)) = FILES.iter().find(|(magic, _)| first.starts_with(magic)) {
        return Probe {
            family: Some(Family::File(*format)),
            is_marked: false,
        };
    }
    let is_bloscpack = begins(first, &MAGIC) || first == [MARK];
    let is_marked = is_marked(first, &MAGIC);
    Probe {
        family: (is_bloscpack || is_marked).then_some(Family::Bloscpack),
        is_marked,
    }
}

/// Whether the bytes begin with this magic number, or end within it.
fn begins(first: &[u8], magic: &[u8]) -> bool {
    let len = first.len().min(magic.len());
    len > 0 && first.get(..len) == magic.get(..len)
}

/// Whether the bytes begin with this magic number, whose first byte was replaced by the mark of an unfinished change.
fn is_marked(first: &[u8], magic: &[u8]) -> bool {
    let rest = magic.get(1..);
    first.first() == Some(&MARK) && first.get(1..magic.len()) == rest
}

fn directory(path: &Path) -> io::Result<Probe> {
    let family = by_marks(|name| match path.join(name).symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if is_about_name(&error) => Ok(false),
        Err(error) => Err(error),
    })?;
    Ok(Probe {
        family: Some(family),
        is_marked: false,
    })
}

/// Whether the error is about the name or permissions, and not about the disk.
pub(crate) fn is_about_name(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound, PermissionDenied};
    let kinds = [
        NotFound,
        PermissionDenied,
        NotADirectory,
        InvalidInput,
        InvalidFilename,
    ];
    kinds.contains(&error.kind())
}

/// Fills the buffer from the start of the source, as far as the source reaches.
fn begin<'a, S: ReadAt + ?Sized>(source: &S, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut len = 0;
    while let Some(rest) = buffer.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match source.read_at(to_u64(len), rest) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(0) => break,
            Ok(count) => len += count,
        }
    }
    Ok(buffer.get(..len).unwrap_or(buffer))
}

#[cfg(test)]
mod tests {
    use super::{Family, probe_bytes};

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
            let is_frame = probe_bytes(bytes).family == Some(Family::Frame);
            assert_eq!(is_frame, expected, "{bytes:?}");
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
            let is_bloscpack = probe_bytes(bytes).family == Some(Family::Bloscpack);
            assert_eq!(is_bloscpack, expected, "{bytes:?}");
        }
        for (bytes, expected) in [(&b"!lpk"[..], true), (b"!", false), (b"blpk", false)] {
            assert_eq!(probe_bytes(bytes).is_marked, expected, "{bytes:?}");
        }
    }
}
