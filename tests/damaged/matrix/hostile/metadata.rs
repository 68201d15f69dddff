//! Tests of hostile metadata of files.

use super::{CUT, DAMAGED, MIB, OVER, READ, Row, file};
use crate::matrix::by_fields::Section3;

pub fn rows() -> Vec<Row> {
    let section = |name: &str, section: Section3, expected| {
        file(&format!("V3 metadata, {name}"), section.file(), expected)
    };
    let base = || Section3::plain(b"{}");
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    let string = |len: usize| [b"\"".as_slice(), &vec![b'x'; len - 2], b"\""].concat();
    let of = |size: u32| Section3 {
        meta_size: size,
        max: size,
        stored_size: size,
        ..base()
    };
    let packed = |size: u32| Section3 {
        meta_size: size,
        ..Section3::packed(&[b' '; 2000])
    };
    let mut rows = vec![
        section("2^31-1 bytes", of(0x7fff_ffff), OVER),
        section("2^32-1 bytes", of(u32::MAX), OVER),
        section("2^32-1 bytes unpacked", packed(u32::MAX), OVER),
        section("64 MiB unpacked of 30 bytes", packed(64 << 20), DAMAGED),
        section(
            "room of 2^32-1 bytes",
            Section3 {
                max: u32::MAX,
                ..base()
            },
            CUT,
        ),
        section("120 deep", Section3::plain(&nested(120)), READ),
        section("129 deep", Section3::plain(&nested(129)), DAMAGED),
        section(
            "5 million deep",
            Section3::plain(&nested(5_000_000)),
            DAMAGED,
        ),
        section(
            "a string of 64 MiB",
            Section3::plain(&string(64 * MIB)),
            READ,
        ),
        section(
            "a string of 64 MiB and a byte",
            Section3::plain(&string(64 * MIB + 1)),
            OVER,
        ),
        section(
            "duplicate keys",
            Section3::plain(b"{\"a\": 1, \"a\": 2}"),
            READ,
        ),
        section(
            "NaN",
            Section3::plain(b"{\"a\": [NaN, Infinity, -Infinity]}"),
            READ,
        ),
        section("nan", Section3::plain(b"{\"a\": nan}"), DAMAGED),
        section(
            "100,000 NaNs, no end",
            Section3::plain(&b"[NaN,".repeat(100_000)),
            DAMAGED,
        ),
    ];
    // Decompressed it just fits the limit; its text and the parsed structure are in memory.
    let mut bomb = section(
        "bomb: a string of 64 MiB, packed",
        Section3::packed(&string(64 * MIB)),
        READ,
    );
    bomb.more = 192 * MIB;
    rows.push(bomb);
    let over = Section3::packed(&string(64 * MIB + 1));
    rows.push(section("bomb: 64 MiB and a byte, packed", over, OVER));
    rows
}
