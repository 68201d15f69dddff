use super::*;
use bloscpack_error::Category;

/// The header that `python-caterva` writes for 4 chunks of 16 elements, with one more metalayer.
fn header() -> FrameHeader {
    let mut metalayers = Metalayers::new();
    metalayers.set("caterva", vec![0x95, 0, 0]).unwrap();
    metalayers.set("unit", b"K".to_vec()).unwrap();
    FrameHeader {
        kind: FrameKind::Contiguous,
        flags: FrameHeader::FLAGS,
        frame_len: 1000,
        content_len: 256,
        section_len: 300,
        typesize: 4,
        blocksize: 32,
        chunk_size: Some(64),
        codec: 1,
        level: 9,
        split_mode: 2,
        threads: (1, 2),
        has_vlmetalayers: true,
        filters: [0, 0, 0, 0, 3, 1],
        filters_meta: [0, 0, 0, 0, 0, 8],
        codec_id: 1,
        codec_meta: 7,
        use_dict: true,
        metalayers,
    }
}

fn changed(at: usize, new: &[u8]) -> std::result::Result<FrameHeader, Category> {
    let mut bytes = header().encode().unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
    FrameHeader::decode(&bytes).map_err(|error| error.category())
}

/// The numbers at the positions in the table of the format.
#[test]
fn fields_are_where_the_format_has_them() {
    let bytes = header().encode().unwrap();
    assert_eq!(bytes.len(), header().encoded_len());
    let number = |at: usize, len: usize| {
        let bytes = bytes[at..at + len].iter();
        bytes.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    assert_eq!(number(11, 4), bytes.len() as u64);
    assert_eq!(number(16, 8), 1000);
    assert_eq!(bytes[25..29], [0x12, 0, 0x91, 2]);
    assert_eq!((number(30, 8), number(39, 8)), (256, 300));
    assert_eq!((number(48, 4), number(53, 4), number(58, 4)), (4, 32, 64));
    assert_eq!((number(63, 2), number(66, 2), bytes[68]), (1, 2, 0xc3));
    assert_eq!(bytes[71..79], [0, 0, 0, 0, 3, 1, 1, 7]);
    assert_eq!(bytes[79..87], [0, 0, 0, 0, 0, 8, 1, 0]);
    assert_eq!(FrameHeader::decode(&bytes).unwrap(), header());
    assert_eq!(header().nchunks().unwrap(), 4);
}

#[test]
fn trailing_bytes_are_ignored_and_missing_bytes_are_cut_short() {
    let bytes = header().encode().unwrap();
    let longer = [&bytes[..], b"chunks"].concat();
    assert_eq!(FrameHeader::decode(&longer).unwrap(), header());
    for len in 0..bytes.len() {
        let error = FrameHeader::decode(&bytes[..len]).unwrap_err();
        assert_eq!(error.category(), Category::CutShort, "{len} bytes: {error}");
    }
}

#[test]
fn another_beginning_is_not_a_frame_however_short() {
    for start in [&b"b"[..], b"\x9e\xa8b2", b"\x9e\xa9", b"blpk", &[0; 200]] {
        let category = FrameHeader::prefix(start).unwrap_err().category();
        let begins_so = start == b"\x9e\xa8b2";
        let expected = if begins_so {
            Category::CutShort
        } else {
            Category::Unsupported
        };
        assert_eq!(category, expected, "{start:?}");
        assert!(!is_frame(start));
    }
}

#[test]
fn other_versions_and_kinds_are_unsupported() {
    for (at, byte) in [
        (0, 0x9d), // not a frame
        (9, 1),
        (25, 0x11), // version 1
        (25, 0x13), // blocks that vary
        (25, 0x52), // chunks that vary
        (25, 0x22), // offsets of 128 bits
        (26, 2),
        (85, 2),
        (86, 1),
    ] {
        assert_eq!(
            changed(at, &[byte]),
            Err(Category::Unsupported),
            "byte {at}"
        );
    }
    assert_eq!(changed(58, &[0; 4]), Err(Category::Unsupported));
}

#[test]
fn impossible_numbers_are_damage() {
    for (at, new) in [
        (11, &[0, 0, 0, 96][..]),          // a header too short
        (11, &[0x80, 0, 0, 0]),            // negative
        (16, &[0, 0, 0, 0, 0, 0, 0, 150]), // no room for a trailer
        (30, &[0x80]),
        (39, &[0, 0, 0, 0, 0, 0, 4, 0]), // more than the frame has
        (39, &[0xff]),
        (48, &[0; 4]),
        (48, &[0xff]),
        (53, &[0x80]),
        (58, &[0xff; 4]),                // no chunk size, though there is content
        (30, &[0x7f, 0xff, 0xff, 0xff]), // more chunks than an index holds
        (68, &[0xc1]),
        (70, &[5]),
        (87, &[0x94]),
    ] {
        assert_eq!(changed(at, new), Err(Category::Damaged), "byte {at}");
    }
    let longer = u8::try_from(header().encoded_len() + 1).unwrap();
    let mut bytes = header().encode().unwrap();
    bytes.push(0);
    bytes[14] = longer;
    assert_eq!(
        FrameHeader::decode(&bytes).unwrap_err().category(),
        Category::Damaged
    );
}

#[test]
fn markers_are_checked() {
    for at in [10, 15, 24, 29, 38, 47, 52, 57, 62, 65, 69, 88, 91] {
        assert_eq!(changed(at, &[0xc0]), Err(Category::Damaged), "byte {at}");
    }
}

#[test]
fn without_content_there_need_be_no_chunk_size() {
    let empty = FrameHeader {
        content_len: 0,
        chunk_size: None,
        ..header()
    };
    let bytes = empty.encode().unwrap();
    assert_eq!(bytes[58..62], [0xff; 4]);
    assert_eq!(FrameHeader::decode(&bytes).unwrap(), empty.clone());
    assert_eq!(empty.nchunks().unwrap(), 0);
    let mut zero = bytes.clone();
    zero[58..62].fill(0);
    assert_eq!(FrameHeader::decode(&zero).unwrap(), empty);
    zero[61] = 0xfe;
    zero[58..61].fill(0xff);
    assert!(FrameHeader::decode(&zero).is_err());
}

/// python-blosc2 4.14.1 makes such a header for `zeros((0, 4))`, its chunk size and blocksize 0.
#[test]
fn a_header_without_content_may_say_that_chunks_vary() {
    let empty = FrameHeader {
        flags: 0x53,
        content_len: 0,
        blocksize: 0,
        chunk_size: None,
        ..header()
    };
    let bytes = empty.encode().unwrap();
    assert_eq!(
        (bytes[25], &bytes[53..57], &bytes[58..62]),
        (0x53, &[0; 4][..], &[0; 4][..])
    );
    assert_eq!(FrameHeader::decode(&bytes).unwrap(), empty.clone());
    let full = FrameHeader {
        content_len: 256,
        chunk_size: Some(64),
        ..empty
    };
    assert_eq!(full.encode().unwrap_err().category(), Category::Usage);
}

#[test]
fn values_that_do_not_fit_are_not_written() {
    let most = u32::try_from(i32::MAX).unwrap();
    for header in [
        FrameHeader {
            level: 16,
            ..header()
        },
        FrameHeader {
            codec: 16,
            ..header()
        },
        FrameHeader {
            typesize: most + 1,
            ..header()
        },
        FrameHeader {
            blocksize: most + 1,
            ..header()
        },
        FrameHeader {
            chunk_size: Some(most + 1),
            ..header()
        },
        FrameHeader {
            content_len: 1 << 63,
            ..header()
        },
        FrameHeader {
            section_len: 1 << 63,
            ..header()
        },
    ] {
        assert_eq!(header.encode().unwrap_err().category(), Category::Usage);
    }
}

#[test]
fn chunks_are_counted_with_the_last_one() {
    for (content_len, nchunks) in [(0, 0), (1, 1), (64, 1), (65, 2)] {
        let header = FrameHeader {
            content_len,
            ..header()
        };
        assert_eq!(header.nchunks().unwrap(), nchunks);
    }
}
