//! Tests of options that shape the file: codecs, filters, checksums, layouts.

use crate::support::{Folder, OFFSETS, fields, ramp};

/// The header of the first chunk in a V3 file without metadata.
fn first_chunk(packed: &[u8]) -> &[u8] {
    let header = fields(packed);
    let entries = if header.options & OFFSETS == 0 {
        0
    } else {
        usize::try_from(header.nchunks + header.max_app_chunks).unwrap()
    };
    &packed[32 + entries * 8..][..16]
}

#[test]
fn codecs_and_levels() {
    let folder = Folder::new();
    let plain = ramp(300_000);
    // By the flags of a chunk: lz4hc writes what lz4 reads.
    let codecs = [
        ("blosclz", 0),
        ("lz4", 1),
        ("lz4hc", 1),
        ("snappy", 2),
        ("zlib", 3),
        ("zstd", 4),
    ];
    for (codec, number) in codecs {
        for level in ["1", "5", "9"] {
            let packed = folder.compressed(&["-c", codec, "-l", level], &plain);
            assert_eq!(first_chunk(&packed)[2] >> 5, number, "{codec}");
            assert!(
                packed.len() < plain.len() / 2,
                "{codec} {level}: {}",
                packed.len()
            );
            assert_eq!(
                folder.run_with(["d"], packed).succeeded(),
                plain,
                "{codec} {level}"
            );
        }
    }
}

#[test]
fn level_0_stores() {
    let folder = Folder::new();
    let packed = folder.compressed(&["-l", "0"], &ramp(5000));
    assert_eq!(first_chunk(&packed)[2] & 2, 2);
    assert_eq!(folder.run_with(["d"], packed).succeeded(), ramp(5000));
}

#[test]
fn filters() {
    let folder = Folder::new();
    let plain = ramp(300_000);
    let filters: [(&[&str], u8); 5] = [
        (&[], 1),
        (&["-s"], 0),
        (&["--shuffle", "none"], 0),
        (&["--shuffle", "byte"], 1),
        (&["--shuffle", "bit"], 4),
    ];
    for (options, flags) in filters {
        let packed = folder.compressed(options, &plain);
        assert_eq!(first_chunk(&packed)[2] & 5, flags, "{options:?}");
        assert_eq!(folder.run_with(["d"], packed).succeeded(), plain);
    }
}

#[test]
fn typesize_and_chunk_size() {
    let folder = Folder::new();
    let packed = folder.compressed(&["-t", "3", "-z", "100000"], &ramp(300_001));
    let header = fields(&packed);
    assert_eq!(
        (header.typesize, header.chunk_size, header.last_chunk),
        (3, 100_000, 1)
    );
    assert_eq!((header.nchunks, first_chunk(&packed)[3]), (4, 3));
    let packed = folder.compressed(&["-z", "max"], &ramp(3_000_000));
    assert_eq!(
        (fields(&packed).nchunks, fields(&packed).chunk_size),
        (1, 3_000_000)
    );
}

#[test]
fn checksums() {
    let folder = Folder::new();
    let kinds = [
        "None", "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512",
    ];
    let lengths = [0, 4, 4, 16, 20, 28, 32, 48, 64];
    let plain = ramp(5000);
    let bare = folder.compressed(&["-k", "None"], &plain).len();
    for ((number, kind), length) in (0_u8..).zip(kinds).zip(lengths) {
        let packed = folder.compressed(&["-k", kind], &plain);
        assert_eq!(packed[6], number, "{kind}");
        assert_eq!(packed.len(), bare + length, "{kind}");
        assert_eq!(folder.run_with(["d"], packed).succeeded(), plain, "{kind}");
    }
    assert_eq!(folder.compressed(&["-k", "none"], &plain).len(), bare);
    assert_eq!(folder.compressed(&["-k", "SHA256"], &plain)[6], 6);
}

#[test]
fn offsets() {
    let folder = Folder::new();
    let plain = ramp(5000);
    let with = folder.compressed(&["-z", "1K"], &plain);
    assert_eq!(fields(&with).options, OFFSETS);
    // Ten for each of five chunks, as in Bloscpack for Python.
    assert_eq!(fields(&with).max_app_chunks, 50);
    let first = i64::from_le_bytes(with[32..40].try_into().unwrap());
    assert_eq!(first, 32 + 8 * (5 + 50));

    let without = folder.compressed(&["-z", "1K", "-o"], &plain);
    assert_eq!(
        (fields(&without).options, fields(&without).max_app_chunks),
        (0, 0)
    );
    assert_eq!(&without[32..], &with[usize::try_from(first).unwrap()..]);

    let three = folder.compressed(&["-z", "1K", "--max-app-chunks", "3"], &plain);
    assert_eq!(fields(&three).max_app_chunks, 3);
    assert_eq!(three.len(), without.len() + 8 * 8);
}

#[test]
fn formats() {
    let folder = Folder::new();
    let plain = ramp(5000);
    for (format, version) in [("1", 1), ("2", 2), ("3", 3)] {
        let packed = folder.compressed(&["--format", format, "-z", "1K"], &plain);
        assert_eq!(packed[4], version);
        assert_eq!(
            folder.run_with(["d"], packed).succeeded(),
            plain,
            "format {format}"
        );
    }
    // Format 1: sixteen bytes with the number of chunks, then chunks and nothing else.
    let packed = folder.compressed(&["--format", "1", "-z", "1K"], &plain);
    assert_eq!(packed[..18], *b"blpk\x01\0\0\0\x05\0\0\0\0\0\0\0\x02\x01");
}

#[test]
fn format_1_cannot_say_everything() {
    let folder = Folder::new();
    folder.write("data", ramp(5000));
    folder
        .run(["c", "--format", "1", "-k", "md5", "data"])
        .failed(2, "checksum");
    folder
        .run_with(["c", "--format", "1"], ramp(5000))
        .failed(2, "size");
    let packed = folder
        .run_with(["c", "--format", "1", "--size", "5000"], ramp(5000))
        .succeeded();
    assert_eq!(folder.run_with(["d"], packed).succeeded(), ramp(5000));
    assert_eq!(folder.names(), ["data"]);
}

#[test]
fn the_level_follows_the_codec() {
    let folder = Folder::new();
    let plain = ramp(500_000);
    for (codec, level) in [("lz4", "9"), ("lz4hc", "5"), ("zlib", "6"), ("zstd", "4")] {
        assert_eq!(
            folder.compressed(&["-c", codec], &plain),
            folder.compressed(&["-c", codec, "-l", level], &plain),
            "{codec}"
        );
    }
}

#[test]
fn threads_change_no_byte() {
    let folder = Folder::new();
    let plain = ramp(5_000_000);
    let one = folder.compressed(&["-n", "1"], &plain);
    for threads in ["2", "7", "256"] {
        assert_eq!(folder.compressed(&["-n", threads], &plain), one);
        assert_eq!(
            folder.run_with(["d", "-n", threads], &one).succeeded(),
            plain
        );
    }
}
