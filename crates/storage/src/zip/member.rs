//! A file in a ZIP archive.

use super::record::{Fields, damaged, unsupported};
use super::seen::Seen;
use crate::SharedSource;
use crate::convert::{prefix, to_usize};
use crate::mutex::locked;
use crate::{Key, ReadAt};
use std::io;
use std::sync::{Arc, Mutex};
use zlib_rs::{Inflate, InflateFlush, Status};

/// Length of the header before a file, without its name.
pub(super) const HEADER_LEN: u64 = 30;
const HEADER: &[u8; 4] = b"PK\x03\x04";
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// The flag of encrypted files.
const ENCRYPTED: u16 = 1;
/// Binary logarithm of deflate's window.
const WINDOW_BITS: u8 = 15;
/// Maximum number of bytes that deflate can make of one.
const MAX_RATIO: u64 = 1032;

/// A file as the directory of the archive describes it.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// The name in the archive.
    pub name: Box<[u8]>,
    /// The position of its header.
    pub at: u64,
    /// Bytes in the archive.
    pub packed: u64,
    /// Bytes of the file.
    pub len: u64,
    pub crc: u32,
    pub method: u16,
    pub flags: u16,
    /// The position of the next file, or of the directory.
    pub end: u64,
    /// The bytes of a stored file that were read.
    pub seen: Arc<Mutex<Seen>>,
}

impl Member {
    /// Opens the file. `max_len` limits the length of a file that must be unpacked.
    pub fn open(
        &self,
        source: SharedSource,
        key: &Key,
        max_len: u64,
    ) -> io::Result<Box<dyn ReadAt>> {
        let wrong = |what: &str| damaged(self.at, format_args!("{:?} {what}", key.as_str()));
        let cannot = |what: String| unsupported(self.at, format_args!("{:?} {what}", key.as_str()));
        if self.flags & ENCRYPTED != 0 {
            return Err(cannot("is encrypted".to_owned()));
        }
        let at = self.content(&*source, key)?;
        match self.method {
            STORED if self.packed == self.len => Ok(Box::new(Stored {
                source,
                at,
                member: self.clone(),
                key: key.clone(),
            })),
            STORED => Err(wrong("is stored, with two lengths")),
            DEFLATED if self.len > self.packed.saturating_mul(MAX_RATIO) => {
                Err(wrong("is longer than its compressed bytes can become"))
            }
            DEFLATED if self.len > max_len => {
                let len = self.len;
                Err(cannot(format!(
                    "unpacks to {len} bytes, over the limit of {max_len}"
                )))
            }
            DEFLATED => Ok(Box::new(Deflated {
                source,
                at,
                member: self.clone(),
                key: key.clone(),
                content: Mutex::new(None),
            })),
            method => Err(cannot(format!(
                "is compressed by method {method}, not by deflate"
            ))),
        }
    }

    /// The error for a file with another checksum.
    pub(super) fn wrong_crc(&self, key: &Key, found: u32) -> io::Error {
        let (name, expected) = (key.as_str(), self.crc);
        let what = format_args!("{name:?} crc32 {found:08x}, expected {expected:08x}");
        damaged(self.at, what)
    }

    /// The position of the content, after checking that the header agrees with the directory.
    pub(super) fn content(&self, source: &dyn ReadAt, key: &Key) -> io::Result<u64> {
        let name_len = self.name.len();
        let mut bytes = vec![0; to_usize(HEADER_LEN)? + name_len];
        source.read_exact_at(self.at, &mut bytes)?;
        let mut fields = Fields::new(&bytes, self.at);
        fields.expect(HEADER, "header of a file")?;
        fields.skip(2)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.skip(16)?;
        let (found_len, extra_len) = (fields.u16()?, fields.u16()?);
        let name = fields.take(name_len)?;
        let same_name = usize::from(found_len) == name_len && *name == *self.name;
        if flags & ENCRYPTED != self.flags & ENCRYPTED || method != self.method || !same_name {
            let what = format_args!("the header of {:?} contradicts the directory", key.as_str());
            return Err(damaged(self.at, what));
        }
        let at = fields.at() + u64::from(extra_len);
        if at
            .checked_add(self.packed)
            .is_some_and(|end| end <= self.end)
        {
            Ok(at)
        } else {
            Err(damaged(
                self.at,
                format_args!("{:?} overlaps another file", key.as_str()),
            ))
        }
    }
}

/// A file that is stored without compression.
struct Stored {
    source: SharedSource,
    at: u64,
    member: Member,
    key: Key,
}

impl ReadAt for Stored {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Member { len, crc, .. } = self.member;
        let part = prefix(buf, len.saturating_sub(at));
        if part.is_empty() {
            return Ok(0);
        }
        // Cannot overflow: the file lies within the archive.
        let read = self.source.read_at(self.at + at, part)?;
        let bytes = part.get(..read).unwrap_or(part);
        match locked(&self.member.seen).add(at, bytes, len, crc) {
            Some(found) => Err(self.member.wrong_crc(&self.key, found)),
            None => Ok(read),
        }
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.member.len)
    }
}

/// A file that is unpacked by the first read.
struct Deflated {
    source: SharedSource,
    at: u64,
    member: Member,
    key: Key,
    content: Mutex<Option<Arc<[u8]>>>,
}

impl Deflated {
    fn content(&self) -> io::Result<Arc<[u8]>> {
        let mut content = locked(&self.content);
        if let Some(content) = &*content {
            return Ok(Arc::clone(content));
        }
        let unpacked: Arc<[u8]> = self.unpack()?.into();
        *content = Some(Arc::clone(&unpacked));
        Ok(unpacked)
    }

    fn unpack(&self) -> io::Result<Vec<u8>> {
        let wrong = |what: &str| damaged(self.at, format_args!("{:?} {what}", self.key.as_str()));
        let mut packed = zeros(self.member.packed)?;
        self.source.read_exact_at(self.at, &mut packed)?;
        let mut content = zeros(self.member.len)?;
        let mut unpacker = Inflate::new(false, WINDOW_BITS);
        match unpacker.decompress(&packed, &mut content, InflateFlush::Finish) {
            Ok(Status::StreamEnd) if unpacker.total_out() == self.member.len => {}
            Ok(Status::StreamEnd) => {
                return Err(wrong("unpacks to fewer bytes than its header says"));
            }
            Ok(_) if unpacker.total_out() == self.member.len => {
                return Err(wrong("unpacks to more bytes than its header says"));
            }
            Ok(_) => return Err(wrong("cannot be unpacked: it is cut short")),
            Err(error) => return Err(wrong(&format!("cannot be unpacked: {}", error.as_str()))),
        }
        if crc32fast::hash(&content) == self.member.crc {
            Ok(content)
        } else {
            Err(wrong("has another checksum than its header says"))
        }
    }
}

/// Memory for bytes that exist in the archive, or that they can unpack to.
fn zeros(len: u64) -> io::Result<Vec<u8>> {
    let len = to_usize(len)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(len)
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

impl ReadAt for Deflated {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.content()?.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.member.len)
    }
}
