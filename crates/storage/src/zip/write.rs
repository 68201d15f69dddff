//! [`zip_folder`]: writes the files of a folder as an archive.

use super::seal::{self, PREFIX};
use crate::convert::to_u64;
use crate::{ReadAt as _, WriteAt as _};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Maximum depth of nested folders.
const MAX_DEPTH: usize = 64;
/// The ZIP versions for fields of 32 and of 64 bits.
const PLAIN: u16 = 20;
const LARGE: u16 = 45;
/// Unix, ZIP version 3.0, and the mode of a regular file.
const MADE_BY: u16 = 3 << 8 | 30;
const MODE: u32 = 0o100_644 << 16;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// The earliest date, 1 January 1980, so that equal files make equal archives.
const DATE: u16 = 1 << 5 | 1;
/// Bytes copied at once.
const STEP: usize = 1 << 20;

/// A file that was written.
struct Written {
    name: String,
    at: u64,
    /// Length of the header before it.
    header: u64,
    len: u64,
    crc: u32,
}

/// Writes all regular files of a folder and its subfolders into an empty file as a ZIP archive, and returns the
/// archive's length in bytes.
///
/// Files are stored without compression, sorted by name, with the file `last` at the end. Links and empty
/// folders are left out. Equal files make equal archives. The archive's comment contains a digest of its
/// directory and headers, which [`verify`](crate::Store::verify) compares. The archive is not synced.
///
/// ```
/// use bloscpack_storage::{Key, Store, ZipStore, zip_folder};
/// let temp = tempfile::tempdir()?;
/// std::fs::write(temp.path().join("a"), b"one")?;
/// let archive = tempfile::tempfile()?;
/// zip_folder(temp.path(), "", &archive)?;
/// let store = ZipStore::open(archive)?;
/// assert_eq!(store.open(&Key::parse("a")?)?.size()?, 3);
/// assert!(store.verify(&Key::root()).is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) for a name that is not UTF-8 or is longer than 65,535
/// bytes, and for more than 64 nested folders; an error if a file changes while it is read; and any I/O error.
/// The archive is then incomplete.
pub fn zip_folder(folder: &Path, last: &str, archive: &File) -> io::Result<u64> {
    let mut names = Vec::new();
    list(folder, "", 0, &mut names)?;
    names.sort_by(|a, b| (a == last, a).cmp(&(b == last, b)));
    let (mut written, mut at) = (Vec::new(), 0);
    for name in names {
        let file = add(folder, name, archive, at)?;
        at += file.header + file.len;
        written.push(file);
    }
    let mut end = Vec::new();
    written.iter().try_for_each(|file| record(file, &mut end))?;
    let directory_len = to_u64(end.len());
    put_end(to_u64(written.len()), (at, directory_len), &mut end);
    end.extend_from_slice(PREFIX);
    archive.write_all_at(at, &end)?;
    let len = at + to_u64(end.len());
    let heads = written.iter().map(|file| file.at..file.at + file.header);
    let digits = seal::digits(archive, heads.chain(std::iter::once(at..len)))?;
    archive.write_all_at(len, digits.as_bytes())?;
    Ok(len + to_u64(digits.len()))
}

/// The regular files of a folder, with their paths relative to the first folder.
fn list(folder: &Path, prefix: &str, depth: usize, names: &mut Vec<String>) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Err(invalid(format!(
            "more than {MAX_DEPTH} folders within each other"
        )));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name
            .to_str()
            .ok_or_else(|| invalid(format!("the name {name:?} is not UTF-8")))?;
        let (name, kind) = (format!("{prefix}{name}"), entry.file_type()?);
        if kind.is_dir() {
            list(&entry.path(), &format!("{name}/"), depth + 1, names)?;
        } else if kind.is_file() {
            names.push(name);
        }
    }
    Ok(())
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// Writes a file.
fn add(folder: &Path, name: String, archive: &File, at: u64) -> io::Result<Written> {
    let mut from = File::open(folder.join(&name))?;
    let len = from.size()?;
    let mut file = Written {
        name,
        at,
        header: 0,
        len,
        crc: 0,
    };
    file.header = to_u64(header(&file)?.len());
    let (mut hasher, mut to, mut buffer) =
        (crc32fast::Hasher::new(), at + file.header, vec![0; STEP]);
    loop {
        let read = from.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
        archive.write_all_at(to, bytes)?;
        to += to_u64(read);
    }
    if to != at + file.header + len {
        return Err(io::Error::other(format!(
            "{} was changed meanwhile",
            file.name
        )));
    }
    file.crc = hasher.finalize();
    archive.write_all_at(at, &header(&file)?)?;
    Ok(file)
}

/// A number in 32 bits. If it does not fit, all ones: the 64-bit field has the number.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// As `narrow`, in 16 bits.
fn narrower(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn is_large(number: u64) -> bool {
    narrow(number) == u32::MAX
}

/// The length of a name.
fn name_len(name: &str) -> io::Result<u16> {
    u16::try_from(name.len()).map_err(|_| invalid(format!("a name of {} bytes", name.len())))
}

/// The header before a file. Its length does not depend on the checksum.
fn header(file: &Written) -> io::Result<Vec<u8>> {
    let large = is_large(file.len);
    let len = if large { u32::MAX } else { narrow(file.len) };
    let mut bytes = b"PK\x03\x04".to_vec();
    put16(
        &[if large { LARGE } else { PLAIN }, FLAGS, 0, 0, DATE],
        &mut bytes,
    );
    put32(&[file.crc, len, len], &mut bytes);
    put16(
        &[name_len(&file.name)?, if large { 20 } else { 0 }],
        &mut bytes,
    );
    bytes.extend_from_slice(file.name.as_bytes());
    if large {
        put16(&[1, 16], &mut bytes);
        put64(&[file.len, file.len], &mut bytes);
    }
    Ok(bytes)
}

/// The directory's record of a file.
fn record(file: &Written, bytes: &mut Vec<u8>) -> io::Result<()> {
    let large = is_large(file.len) || is_large(file.at);
    let wide = |number| if large { u32::MAX } else { narrow(number) };
    bytes.extend_from_slice(b"PK\x01\x02");
    let version = if large { LARGE } else { PLAIN };
    put16(&[MADE_BY, version, FLAGS, 0, 0, DATE], bytes);
    put32(&[file.crc, wide(file.len), wide(file.len)], bytes);
    let extra = if large { 28 } else { 0 };
    put16(&[name_len(&file.name)?, extra, 0, 0, 0], bytes);
    put32(&[MODE, wide(file.at)], bytes);
    bytes.extend_from_slice(file.name.as_bytes());
    if large {
        put16(&[1, 24], bytes);
        put64(&[file.len, file.len, file.at], bytes);
    }
    Ok(())
}

/// The end records of an archive, without the comment.
fn put_end(count: u64, (at, len): (u64, u64), bytes: &mut Vec<u8>) {
    if narrower(count) == u16::MAX || is_large(at) || is_large(len) {
        let end = at + to_u64(bytes.len());
        bytes.extend_from_slice(b"PK\x06\x06");
        put64(&[44], bytes);
        put16(&[MADE_BY, LARGE], bytes);
        put32(&[0, 0], bytes);
        put64(&[count, count, len, at], bytes);
        bytes.extend_from_slice(b"PK\x06\x07");
        put32(&[0], bytes);
        put64(&[end], bytes);
        put32(&[1], bytes);
    }
    bytes.extend_from_slice(b"PK\x05\x06");
    put16(&[0, 0, narrower(count), narrower(count)], bytes);
    put32(&[narrow(len), narrow(at)], bytes);
    put16(&[narrower(to_u64(seal::LEN))], bytes);
}

fn put16(numbers: &[u16], bytes: &mut Vec<u8>) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn put32(numbers: &[u32], bytes: &mut Vec<u8>) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn put64(numbers: &[u64], bytes: &mut Vec<u8>) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Store as _, ZipStore};

    fn archive() -> Vec<u8> {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("b/c")).unwrap();
        for (name, content) in [("a", &b"first"[..]), ("b/c/d", b"in folders"), ("b/e", b"")] {
            fs::write(temp.path().join(name), content).unwrap();
        }
        let path = temp.path().join("out");
        let file = File::options()
            .create_new(true)
            .read(true)
            .write(true)
            .open(&path);
        let file = file.unwrap();
        let folder = temp.path().join("b");
        let len = zip_folder(&folder, "c/d", &file).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(to_u64(bytes.len()), len);
        bytes
    }

    fn sound(bytes: Vec<u8>) -> bool {
        ZipStore::open(bytes).is_ok_and(|store| store.verify(&Key::root()).is_empty())
    }

    #[test]
    fn every_bit_of_an_archive_is_checked() {
        let whole = archive();
        assert!(sound(whole.clone()));
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!sound(bytes), "bit {bit}");
        }
        for len in 0..whole.len() {
            assert!(!sound(whole[..len].to_vec()), "{len} bytes");
        }
    }

    #[test]
    fn the_archive_of_another_program_has_no_seal() {
        let mut bytes = archive();
        let end = bytes.len() - seal::LEN;
        bytes.truncate(end);
        bytes[end - 2..].fill(0);
        assert!(sound(bytes));
    }

    #[test]
    fn positions_of_64_bits_are_read() {
        let mut file = Written {
            name: "x".to_owned(),
            at: 1 << 33,
            header: 51,
            len: 1 << 34,
            crc: 7,
        };
        assert_eq!(to_u64(header(&file).unwrap().len()), file.header);
        let (mut bytes, at) = (Vec::new(), (1u64 << 33) + (1 << 34) + 51);
        record(&file, &mut bytes).unwrap();
        let len = to_u64(bytes.len());
        put_end(1, (at, len), &mut bytes);
        bytes.extend([b'x'; seal::LEN]);
        struct Sparse(u64, Vec<u8>);
        impl crate::ReadAt for Sparse {
            fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
                match at.checked_sub(self.0) {
                    Some(at) => self.1.read_at(at, buf),
                    None => Ok(crate::convert::min_len(self.0 - at, buf.len())),
                }
            }
            fn size(&self) -> io::Result<u64> {
                Ok(self.0 + to_u64(self.1.len()))
            }
        }
        let store = ZipStore::open(Sparse(at, bytes)).unwrap();
        assert!(store.kind(&Key::parse("x").unwrap()).unwrap().is_some());
        file.len = 3;
        assert_eq!(header(&file).unwrap().len(), 31);
    }
}
