//! Tests of metadata that is invalid, has a wrong length, or is a bomb.

use super::stopwatch::HANG;
use super::{Fields, MIB, PLAIN, bounded, decode, refused};
use crate::hostile::by_fields::Section3;
use bloscpack::{Category, wire::Section};

#[test]
fn metadata_that_cannot_be_is_refused() {
    use Category::{CutShort, Damaged, OverLimit, Unsupported};
    use Section::Metadata;
    let base = || Section3::plain(b"{}");
    assert_eq!(bounded("metadata", &base().file(), 64 * MIB).unwrap(), 100);
    for size in [u32::MAX, i32::MAX as u32, (64 << 20) + 1] {
        let all = Section3 {
            meta_size: size,
            max: size,
            stored_size: size,
            ..base()
        };
        refused("4 GiB", &all.file(), OverLimit, Metadata, "Limit");
        let packed = Section3 {
            meta_size: size,
            codec: 1,
            ..base()
        };
        refused(
            "4 GiB unpacked",
            &packed.file(),
            OverLimit,
            Metadata,
            "Limit",
        );
        let room = Section3 {
            max: size,
            ..base()
        };
        refused("4 GiB of room", &room.file(), CutShort, Metadata, "Cut");
        let stored = Section3 {
            stored_size: size,
            ..base()
        };
        refused("stored > room", &stored.file(), Damaged, Metadata, "Field");
        let raw = Fields {
            version: 2,
            options: 2,
            tail: i64::from(size),
            ..PLAIN
        };
        if i32::try_from(size).is_ok() {
            refused("2 GiB raw", &raw.with(b"{}"), OverLimit, Metadata, "Limit");
        }
    }
    let all = Section3 {
        meta_size: 64 << 20,
        max: 64 << 20,
        stored_size: 64 << 20,
        ..base()
    };
    refused("64 MiB", &all.file(), CutShort, Metadata, "Cut");
    let raw = Fields {
        version: 2,
        options: 2,
        tail: 64 << 20,
        ..PLAIN
    };
    refused("64 MiB raw", &raw.with(b"{}"), CutShort, Metadata, "Cut");
    refused(
        "codec",
        &Section3 { codec: 2, ..base() }.file(),
        Unsupported,
        Metadata,
        "Unsupported",
    );
    refused(
        "checksum",
        &Section3 {
            checksum: 9,
            ..base()
        }
        .file(),
        Unsupported,
        Metadata,
        "ChecksumId",
    );
    refused(
        "level",
        &Section3 {
            level: 10,
            ..base()
        }
        .file(),
        Damaged,
        Metadata,
        "Field",
    );
    refused(
        "size",
        &Section3 {
            meta_size: 3,
            ..base()
        }
        .file(),
        Damaged,
        Metadata,
        "Field",
    );
    refused(
        "no zlib",
        &Section3 { codec: 1, ..base() }.file(),
        Damaged,
        Metadata,
        "MetadataData",
    );
    let mut xml = base().file();
    xml[32..36].copy_from_slice(b"XML ");
    refused("no JSON", &xml, Unsupported, Metadata, "MetadataFormat");
    let mut digest = Section3 {
        checksum: 2,
        ..base()
    };
    digest.stored.extend([0; 4]);
    refused("digest", &digest.file(), Damaged, Metadata, "Digest");
}

#[test]
fn json_that_cannot_be_is_refused() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    for text in [
        b"".to_vec(),
        b"{".to_vec(),
        b"{} {}".to_vec(),
        b"nan".to_vec(),
        b"\"\xff\xfe\"".to_vec(),
        b"{\"a\": 1,}".to_vec(),
        nested(129),
        nested(1_000_000),
        b"{\"a\":".repeat(500_000),
        b"[".repeat(5_000_000),
        b"[NaN,".repeat(100_000),
    ] {
        let name = String::from_utf8_lossy(&text[..text.len().min(20)]).into_owned();
        let file = Section3::plain(&text).file();
        refused(
            &name,
            &file,
            Category::Damaged,
            Section::Metadata,
            "MetadataData",
        );
        if !text.is_empty() {
            let file = Section3::packed(&text).file();
            refused(
                &name,
                &file,
                Category::Damaged,
                Section::Metadata,
                "MetadataData",
            );
        }
    }
    for text in [
        b"{\"a\": 1, \"a\": 2}".to_vec(),
        b"{\"a\": [NaN, Infinity, -Infinity]}".to_vec(),
        nested(120),
        [b"\"".as_slice(), &vec![b'x'; 2_000_000], b"\""].concat(),
    ] {
        let name = String::from_utf8_lossy(&text[..text.len().min(20)]).into_owned();
        bounded(&name, &Section3::plain(&text).file(), 64 * MIB).unwrap();
    }
}

/// Each digit looked at with all that follow it would take hours.
#[test]
fn a_long_number_is_looked_at_once() {
    let digits = "0".repeat(MIB);
    for last in ["NaN", "Infinit"] {
        let text = format!("{{\"a\": 0.{digits}1, \"b\": 1{digits}, \"c\": {last}}}");
        let file = Section3::packed(text.as_bytes()).file();
        assert!(file.len() < 100_000, "{}", file.len());
        let result = bounded(last, &file, 64 * MIB);
        assert_eq!(result.is_ok(), last == "NaN", "{result:?}");
    }
}

#[test]
fn metadata_that_unpacks_to_more_than_it_says_is_damaged() {
    let zeros = Section3::packed(&vec![b' '; 64 * MIB]);
    for meta_size in [0, 1, 2, 1000, 1 << 20] {
        let file = Section3 {
            meta_size,
            stored: zeros.stored.clone(),
            ..zeros
        }
        .file();
        assert!(file.len() < 100_000);
        refused(
            "bomb",
            &file,
            Category::Damaged,
            Section::Metadata,
            "MetadataData",
        );
    }
    // Conversely, memory depends on the actual bytes.
    let promise = Section3 {
        meta_size: 64 << 20,
        ..Section3::packed(&[b' '; 2000])
    };
    let seen = decode(promise.file().as_slice());
    let category = seen.result.unwrap_err().category();
    assert_eq!(category, Category::Damaged);
    assert!(seen.peak < MIB, "{} bytes of memory", seen.peak);
    let less = Section3 {
        meta_size: 3000,
        ..Section3::packed(&[b' '; 2000])
    };
    refused(
        "less",
        &less.file(),
        Category::Damaged,
        Section::Metadata,
        "MetadataData",
    );
}

/// Within the default limit of 64 MiB the text is read, so the bound is four times that limit, for the text and for
/// the structure that checks it, and twice the bytes read.
#[test]
fn a_metadata_bomb_within_the_limit_takes_no_more_than_its_text() {
    let fill = |start: &[u8], unit: &[u8], end: &[u8]| {
        let count = (64 * MIB - start.len() - end.len()) / unit.len();
        [start, &unit.repeat(count), end].concat()
    };
    let mut excesses = Vec::new();
    for (name, text) in [
        ("spaces", fill(b"{", b" ", b"}")),
        ("one string", fill(b"\"", b"x", b"\"")),
        ("many numbers", fill(b"[0", b",0", b"]")),
        ("many lists", fill(b"[[]", b",[]", b"]")),
        ("many objects", fill(b"[{}", b",{}", b"]")),
        ("many keys", fill(b"{\"a\":0", b",\"a\":0", b"}")),
        ("many NaNs", fill(b"[0", b",NaN", b"]")),
    ] {
        let file = Section3::packed(&text).file();
        assert!(file.len() < 400_000, "{}", file.len());
        let seen = decode(file.as_slice());
        println!(
            "{name}: {} bytes read, {} MiB of memory, {:?}, {:?}",
            seen.read,
            seen.peak / MIB,
            seen.time,
            seen.result
        );
        if seen.peak > 256 * MIB + 2 * seen.read || seen.time > HANG {
            excesses.push(name);
        }
    }
    assert!(excesses.is_empty(), "{excesses:?}");
}
