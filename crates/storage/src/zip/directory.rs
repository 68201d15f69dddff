//! Reads the central directory of a ZIP archive.

use super::member::{HEADER_LEN, Member};
use super::record::{Fields, damaged, unsupported};
use crate::convert::{to_u64, to_usize};
use crate::{EntryKind, Key, ReadAt};
use std::io;
use std::sync::Arc;

/// The signature of the end record, and the record's length without its comment.
const END: &[u8; 4] = b"PK\x05\x06";
const END_LEN: usize = 22;
/// Maximum length of the comment.
const MAX_COMMENT: u64 = 0xffff;
/// The record that locates the 64-bit end record, and its length.
const LOCATOR: &[u8; 4] = b"PK\x06\x07";
const LOCATOR_LEN: usize = 20;
const LARGE_END: &[u8; 4] = b"PK\x06\x06";
const LARGE_END_LEN: usize = 56;
const RECORD: &[u8; 4] = b"PK\x01\x02";
/// Maximum length of a directory: a million files with long names.
const MAX_LEN: u64 = 256 << 20;
/// Maximum length of empty deflated data. Most programs write two bytes.
const NOTHING: u64 = 5;
/// The id of the extra field with 64-bit lengths.
const LARGE: u16 = 1;

/// The central directory of an archive.
pub(super) struct Directory {
    pub records: Vec<Record>,
    /// The position of the first record.
    pub at: u64,
    pub comment: Vec<u8>,
}

/// A file, a folder or a link.
pub(super) struct Record {
    pub key: Key,
    pub kind: EntryKind,
    pub member: Member,
    /// The position of the record.
    at: u64,
}

impl Record {
    pub fn wrong(&self, what: &str) -> io::Error {
        damaged(self.at, format_args!("{:?} {what}", self.key.as_str()))
    }
}

/// The place of the records.
struct Place {
    count: u64,
    len: u64,
    at: u64,
    /// The position of the first end record.
    end: u64,
    comment: Vec<u8>,
}

impl Directory {
    pub fn read(source: &dyn ReadAt) -> io::Result<Self> {
        let place = place(source)?;
        if place.at.checked_add(place.len) != Some(place.end) {
            let what = format_args!("a directory of {} bytes at byte {}", place.len, place.at);
            return Err(damaged(place.end, what));
        }
        if place.len > MAX_LEN {
            let what = format_args!(
                "a directory of {} bytes, over the limit of {MAX_LEN}",
                place.len
            );
            return Err(unsupported(place.at, what));
        }
        let mut bytes = vec![0; to_usize(place.len)?];
        source.read_exact_at(place.at, &mut bytes)?;
        let mut fields = Fields::new(&bytes, place.at);
        let mut records = Vec::new();
        while !fields.is_empty() {
            records.push(record(&mut fields)?);
        }
        // Old archives count files modulo 2^16.
        let count = to_u64(records.len());
        if count != place.count && (place.count > 0xffff || count & 0xffff != place.count) {
            let what = format_args!("{} files announced, {count} there", place.count);
            return Err(damaged(place.at, what));
        }
        set_ends(&mut records, place.at)?;
        Ok(Self {
            records,
            at: place.at,
            comment: place.comment,
        })
    }
}

/// Sets where each file must end: at the next file or the directory. Files that share bytes let a small archive
/// unpack to a huge amount of data.
fn set_ends(records: &mut [Record], directory: u64) -> io::Result<()> {
    let mut in_order: Vec<_> = records.iter_mut().collect();
    in_order.sort_by_key(|record| std::cmp::Reverse(record.member.at));
    let mut end = directory;
    for record in in_order {
        let member = &mut record.member;
        let head = HEADER_LEN + to_u64(member.name.len());
        let to = member
            .packed
            .checked_add(head)
            .and_then(|len| len.checked_add(member.at));
        if to.is_none_or(|to| to > end) {
            return Err(record.wrong("overlaps another file, or the directory"));
        }
        (member.end, end) = (end, member.at);
    }
    Ok(())
}

/// Locates the records by the end record.
fn place(source: &dyn ReadAt) -> io::Result<Place> {
    let size = source.size()?;
    let look = size.min(to_u64(END_LEN) + MAX_COMMENT);
    let from = size - look;
    let mut tail = vec![0; to_usize(look)?];
    source.read_exact_at(from, &mut tail)?;
    // The comment may contain the signature, so the comment's length must match, too.
    let is_end = |at: &usize| {
        let record = tail.get(*at..).filter(|record| record.starts_with(END));
        let comment = record.and_then(|record| Some((record.len(), record.get(20..22)?)));
        comment.is_some_and(|(len, comment)| match comment {
            [low, high] => len == END_LEN + usize::from(u16::from_le_bytes([*low, *high])),
            _ => false,
        })
    };
    let last = tail.len().checked_sub(END_LEN);
    let at = last.and_then(|last| (0..=last).rev().find(is_end));
    let Some((at, record)) = at.and_then(|at| Some((at, tail.get(at..)?))) else {
        return Err(damaged(
            size,
            "no end of a directory: not a ZIP archive, or cut short",
        ));
    };
    let end = from + to_u64(at);
    let mut fields = Fields::new(record, end);
    fields.expect(END, "end of a directory")?;
    if (fields.u16()?, fields.u16()?) != (0, 0) {
        return Err(unsupported(end, "an archive in several parts"));
    }
    let (_, count) = (fields.u16()?, fields.u16()?);
    let (len, at) = (fields.u32()?, fields.u32()?);
    let comment_len = fields.u16()?;
    let comment = fields.take(comment_len.into())?.to_vec();
    let is_large = count == u16::MAX || len == u32::MAX || at == u32::MAX;
    if is_large && let Some(place) = large_place(source, end)? {
        return Ok(Place { comment, ..place });
    }
    let (count, len, at) = (count.into(), len.into(), at.into());
    Ok(Place {
        count,
        len,
        at,
        end,
        comment,
    })
}

/// As `place`, by the 64-bit end record; `None` if there is none.
fn large_place(source: &dyn ReadAt, end: u64) -> io::Result<Option<Place>> {
    let Some(locator_at) = end.checked_sub(to_u64(LOCATOR_LEN)) else {
        return Ok(None);
    };
    let mut locator = [0; LOCATOR_LEN];
    source.read_exact_at(locator_at, &mut locator)?;
    if !locator.starts_with(LOCATOR) {
        return Ok(None);
    }
    let mut fields = Fields::new(&locator, locator_at);
    fields.skip(8)?;
    let at = fields.u64()?;
    if at
        .checked_add(to_u64(LARGE_END_LEN))
        .is_none_or(|end| end > locator_at)
    {
        return Err(damaged(
            locator_at,
            format_args!("the end of a directory at byte {at}"),
        ));
    }
    let mut record = [0; LARGE_END_LEN];
    source.read_exact_at(at, &mut record)?;
    let mut fields = Fields::new(&record, at);
    fields.expect(LARGE_END, "end of a large directory")?;
    fields.skip(12)?;
    if (fields.u32()?, fields.u32()?) != (0, 0) {
        return Err(unsupported(at, "an archive in several parts"));
    }
    fields.skip(8)?;
    Ok(Some(Place {
        count: fields.u64()?,
        len: fields.u64()?,
        at: fields.u64()?,
        end: at,
        comment: Vec::new(),
    }))
}

fn record(fields: &mut Fields<'_>) -> io::Result<Record> {
    let at = fields.at();
    fields.expect(RECORD, "record of a directory")?;
    let made_by = fields.u16()?;
    fields.skip(2)?;
    let (flags, method) = (fields.u16()?, fields.u16()?);
    fields.skip(4)?;
    let crc = fields.u32()?;
    let (packed, len) = (fields.u32()?, fields.u32()?);
    let (name_len, extra_len, comment_len) = (fields.u16()?, fields.u16()?, fields.u16()?);
    let disk = fields.u16()?;
    fields.skip(2)?;
    let attributes = fields.u32()?;
    let header = fields.u32()?;
    let name = fields.take(name_len.into())?;
    let extra_at = fields.at();
    let extra = Fields::new(fields.take(extra_len.into())?, extra_at);
    fields.skip(comment_len.into())?;
    if disk != 0 {
        return Err(unsupported(at, "an archive in several parts"));
    }
    let mut large = large_fields(extra)?;
    let mut wide = |narrow: u32| match (narrow, &mut large) {
        (u32::MAX, Some(large)) => large.u64(),
        _ => Ok(narrow.into()),
    };
    // In this order, and each only if 32 bits are too few.
    let (len, packed, header) = (wide(len)?, wide(packed)?, wide(header)?);
    let (key, is_folder) = key_of(at, name)?;
    // The upper byte names the system that defines the attributes. Unix stores the mode in their upper half.
    let is_link = made_by >> 8 == 3 && attributes >> 28 == 0xa;
    let kind = match (is_folder, is_link) {
        (true, _) => EntryKind::Folder,
        (_, true) => EntryKind::Other,
        _ => EntryKind::File,
    };
    let member = Member {
        name: name.into(),
        at: header,
        packed,
        len,
        crc,
        method,
        flags,
        end: 0,
        seen: Arc::default(),
    };
    let record = Record {
        key,
        kind,
        member,
        at,
    };
    if is_folder && (len > 0 || packed > NOTHING) {
        Err(record.wrong("is a folder with bytes"))
    } else {
        Ok(record)
    }
}

/// The 64-bit lengths among the extra fields.
fn large_fields(mut extra: Fields<'_>) -> io::Result<Option<Fields<'_>>> {
    while !extra.is_empty() {
        let (number, len) = (extra.u16()?, extra.u16()?);
        let at = extra.at();
        let content = extra.take(len.into())?;
        if number == LARGE {
            return Ok(Some(Fields::new(content, at)));
        }
    }
    Ok(None)
}

/// The key of a name, and whether it names a folder.
fn key_of(at: u64, name: &[u8]) -> io::Result<(Key, bool)> {
    let wrong = |why: String| {
        let name = name.escape_ascii();
        damaged(at, format_args!("a file is named \"{name}\": {why}"))
    };
    let text = str::from_utf8(name).map_err(|_| wrong("not UTF-8".to_owned()))?;
    let folder = text.strip_suffix('/');
    let key = Key::parse(folder.unwrap_or(text)).map_err(|error| wrong(error.to_string()))?;
    if key == Key::root() {
        Err(wrong("no name".to_owned()))
    } else {
        Ok((key, folder.is_some()))
    }
}
