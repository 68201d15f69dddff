//! Tests of files that are not Bloscpack files, and of headers that are invalid or declare huge sizes.

use super::{Fields, MIB, PLAIN, bounded, decode, refused, zstd};
use crate::hostile::golden::{Random, Recipe, chunk};
use bloscpack::{Category, Checksum, Code, wire::Section};

#[test]
fn what_is_no_bloscpack_file_is_not_supported() {
    use Category::{CutShort, Unsupported};
    use Section::Header;
    let mut random = Random::new(1);
    let noise: Vec<u8> = (0..1000).map(|_| random.next().to_le_bytes()[3]).collect();
    let padded = |start: &[u8]| [start, &[0; 100]].concat();
    refused("nothing", b"", CutShort, Header, "Empty");
    refused(
        "gzip",
        &padded(b"\x1f\x8b\x08"),
        Unsupported,
        Header,
        "Magic",
    );
    refused(
        "zstd",
        &padded(b"\x28\xb5\x2f\xfd"),
        Unsupported,
        Header,
        "Magic",
    );
    refused("a texture", &padded(b"BLP1"), Unsupported, Header, "Magic");
    refused("a texture", &padded(b"BLP2"), Unsupported, Header, "Magic");
    refused(
        "capitals",
        &padded(b"BLPK\x03"),
        Unsupported,
        Header,
        "Magic",
    );
    refused("noise", &noise, Unsupported, Header, "Magic");
    refused("zeros", &[0; 1000], Unsupported, Header, "Magic");
    refused("one byte", b"x", Unsupported, Header, "Magic");
    let texture = decode(padded(b"BLP2").as_slice()).result.unwrap_err();
    assert!(
        texture.to_string().contains("Blizzard texture"),
        "{texture}"
    );

    let header = PLAIN.header();
    for len in 1..header.len() {
        refused(
            "a torn header",
            &header[..len],
            CutShort,
            Header,
            "TornHeader",
        );
    }
    for version in (4..=255).chain([0]) {
        let file = Fields { version, ..PLAIN }.with(&chunk(&[1; 100]));
        refused("a version", &file, Unsupported, Header, "Version");
    }
    for (version, first_bit) in [(2, 4), (3, 3)] {
        for bit in first_bit..8 {
            let fields = Fields {
                version,
                options: 1 << bit,
                ..PLAIN
            };
            refused(
                "an option",
                &fields.header(),
                Unsupported,
                Header,
                "Options",
            );
        }
        for checksum in 9..=255 {
            let fields = Fields {
                version,
                checksum,
                ..PLAIN
            };
            refused(
                "a checksum",
                &fields.header(),
                Unsupported,
                Header,
                "ChecksumId",
            );
        }
    }
}

#[test]
fn headers_that_cannot_be_are_damaged() {
    use Category::Damaged;
    let field = |name, fields: Fields, kind| {
        refused(
            name,
            &fields.with(&chunk(&[1; 100])),
            Damaged,
            Section::Header,
            kind,
        );
    };
    for nchunks in [-2, i64::MIN] {
        let kind = "Field { name: \"number of chunks\"";
        field("chunks", Fields { nchunks, ..PLAIN }, kind);
    }
    for size in [-2, i32::MIN, i32::MAX, 2_147_483_632] {
        for version in [2, 3] {
            let fields = Fields { version, ..PLAIN };
            let chunk_size = Fields {
                chunk_size: size,
                ..fields
            };
            field("chunk size", chunk_size, "Field { name: \"chunk size\"");
            let last_chunk = Fields {
                last_chunk: size,
                ..fields
            };
            field("last chunk", last_chunk, "Field { name: \"last chunk\"");
        }
    }
    let last_chunk = Fields {
        chunk_size: 99,
        ..PLAIN
    };
    field("last > size", last_chunk, "Field { name: \"last chunk\"");
    let none = Fields {
        nchunks: 0,
        ..PLAIN
    };
    field("last of none", none, "Field { name: \"last chunk\"");
    let records = Fields {
        options: 4,
        ..PLAIN
    };
    field(
        "records of one size",
        records,
        "Field { name: \"chunk size\"",
    );
    for tail in [-1, i64::MIN] {
        let fields = Fields { tail, ..PLAIN };
        field("spare", fields, "Field { name: \"max_app_chunks\"");
    }
    let spare = Fields {
        nchunks: -1,
        last_chunk: -1,
        tail: 1,
        ..PLAIN
    };
    field(
        "spare of a stream",
        spare,
        "Field { name: \"max_app_chunks\"",
    );
    let sum = Fields {
        tail: i64::MAX,
        ..PLAIN
    };
    field("spare overflows", sum, "Field { name: \"max_app_chunks\"");
    let v2 = Fields {
        version: 2,
        ..PLAIN
    };
    field(
        "meta-size without",
        Fields { tail: 5, ..v2 },
        "Field { name: \"meta-size\"",
    );
    let negative = Fields {
        options: 2,
        tail: 0xffff_ffff,
        ..v2
    };
    field("meta-size below 0", negative, "Field { name: \"meta-size\"");
    field(
        "reserved word",
        Fields {
            tail: 1 << 32,
            ..v2
        },
        "Field { name: \"reserved word\"",
    );
    let seal = Fields {
        options: 8,
        tail: 1 << 32,
        ..v2
    };
    let error = decode(seal.header().as_slice()).result.unwrap_err();
    assert_eq!(error.code(), Code::Seal);

    let mut v1 = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    for at in 5..8 {
        v1[at] = 1;
        refused(
            "reserved",
            &v1,
            Damaged,
            Section::Header,
            "Field { name: \"reserved bytes\"",
        );
        v1[at] = 0;
    }
    v1[8..].copy_from_slice(&(-2_i64).to_le_bytes());
    refused(
        "chunks of V1",
        &v1,
        Damaged,
        Section::Header,
        "Field { name: \"number of chunks\"",
    );
}

#[test]
fn headers_that_promise_the_world_cost_nothing() {
    use Category::{CutShort, Damaged, OverLimit};
    let large = |nchunks| Fields { nchunks, ..PLAIN };
    let first = chunk(&[1; 100]);
    for version in [2, 3] {
        let many = Fields {
            version,
            ..large(i64::MAX)
        };
        let file = many.with(&first);
        refused(
            "2^63 chunks",
            &file,
            CutShort,
            Section::Chunk,
            "MissingChunks",
        );
        let table = Fields { options: 1, ..many };
        let file = table.with(&first);
        let kind = "Field { name: \"number of chunks\"";
        let place = decode(file.as_slice()).result.unwrap_err();
        let section = place.position().unwrap().section;
        refused("their offsets", &file, Damaged, section, kind);
        let table = Fields {
            nchunks: 1 << 40,
            ..table
        };
        refused(
            "8 TiB of offsets",
            &table.with(&first),
            OverLimit,
            section,
            "Limit",
        );
        // 256 MiB are allowed, but not taken before they arrive.
        let table = Fields {
            nchunks: 32 << 20,
            ..table
        };
        let file = table.with(&[0xff; 8000]);
        refused(
            "256 MiB of offsets",
            &file,
            CutShort,
            Section::Offsets,
            "Cut",
        );
    }
    let v1 = [b"blpk\x01\0\0\0".as_slice(), &i64::MAX.to_le_bytes()].concat();
    refused(
        "V1 with 2^63 chunks",
        &v1,
        CutShort,
        Section::Chunk,
        "MissingChunks",
    );
    let spare = Fields {
        options: 1,
        tail: i64::MAX / 16,
        ..PLAIN
    };
    refused(
        "spare",
        &spare.with(&[0xff; 90]),
        CutShort,
        Section::Offsets,
        "Cut",
    );
    refused(
        "spare",
        &spare.with(&[0; 90]),
        Damaged,
        Section::Offsets,
        "Offset",
    );
    let mut table = (32 + 8 * (i64::MAX / 16 + 1)).to_le_bytes().to_vec();
    table.extend([0xff; 800]);
    refused(
        "spare",
        &spare.with(&table),
        CutShort,
        Section::Offsets,
        "Cut",
    );
    let spare = Fields {
        options: 1,
        tail: i64::MAX - 1,
        ..PLAIN
    };
    let kind = "Field { name: \"number of chunks\"";
    refused(
        "too much spare",
        &spare.header(),
        Damaged,
        Section::Header,
        kind,
    );
    // 1 TiB of zeros, of which a KiB is there.
    let bomb = Fields {
        chunk_size: 1 << 20,
        last_chunk: 1 << 20,
        nchunks: 1 << 20,
        ..PLAIN
    };
    let zeros = zstd(&vec![0; MIB]);
    let file = bomb.with(&zeros.repeat(1000 / zeros.len()));
    refused("a TiB", &file, CutShort, Section::Chunk, "MissingChunks");
}

#[test]
fn a_file_whose_sizes_and_counts_are_zeros_is_not_empty() {
    for recipe in [Recipe::new(Checksum::Crc32), Recipe::new(Checksum::Sha256)] {
        let mut file = recipe.make();
        assert_eq!(file[4], 3, "a file of V3");
        file[12..32].fill(0);
        let name = "zeros from the size of the last chunk on";
        let error = bounded(name, &file, 64 * MIB).unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "{error}");
    }
}
