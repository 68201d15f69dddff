use super::*;
use crate::FrameKind;
use bloscpack_error::Category;

/// The example in Caterva's own documents, for 5 by 6 elements in chunks of 16 by 16 and blocks of 8 by 4.
const EXAMPLE: &[u8] = b"\x95\x00\x02\
    \x92\xd3\0\0\0\0\0\0\0\x05\xd3\0\0\0\0\0\0\0\x06\
    \x92\xd2\0\0\0\x10\xd2\0\0\0\x10\
    \x92\xd2\0\0\0\x08\xd2\0\0\0\x04";

fn meta(shape: &[u64], chunk: &[u32], block: &[u32]) -> ArrayMeta {
    ArrayMeta {
        kind: ArrayKind::B2nd,
        shape: shape.to_vec(),
        chunk_shape: chunk.to_vec(),
        block_shape: block.to_vec(),
        dtype: Some(ArrayDType {
            format: 0,
            text: "<f8".to_owned(),
        }),
    }
}

/// A header for elements of eight bytes.
fn header(blocksize: u32, chunk_size: Option<u32>, content_len: u64) -> FrameHeader {
    FrameHeader {
        kind: FrameKind::Contiguous,
        flags: FrameHeader::FLAGS,
        frame_len: 0,
        content_len,
        section_len: 0,
        typesize: 8,
        blocksize,
        chunk_size,
        codec: 0,
        level: 0,
        split_mode: 0,
        threads: (1, 1),
        has_vlmetalayers: false,
        filters: [0; 6],
        filters_meta: [0; 6],
        codec_id: 0,
        codec_meta: 0,
        use_dict: false,
        metalayers: Metalayers::new(),
    }
}

#[test]
fn the_example_of_the_documents() {
    let meta = ArrayMeta::decode(ArrayKind::Caterva, EXAMPLE).unwrap();
    assert_eq!((meta.shape.as_slice(), &meta.dtype), (&[5, 6][..], &None));
    assert_eq!(
        (meta.chunk_shape.as_slice(), meta.block_shape.as_slice()),
        (&[16, 16][..], &[8, 4][..])
    );
    assert_eq!(meta.grid(), [1, 1]);
    assert_eq!(meta.encode().unwrap(), EXAMPLE);
    assert_eq!(EXAMPLE.len(), 6 + 19 * 2);
}

/// python-caterva 0.7.3 wrote this for an array of 1 by 30 by 1 elements that lost two axes.
#[test]
fn stale_bytes_may_follow() {
    let short = b"\x95\0\x01\x91\xd3\0\0\0\0\0\0\0\x1e\x91\xd2\0\0\0\x08\x91\xd2\0\0\0\x03";
    let long = [
        &short[..],
        b"\0\0\0\0\0\x01\x93\xd2\0\0\0\x01\xd2\0\0\0\x08\xd2\0\0\0\x01",
    ]
    .concat();
    let meta = ArrayMeta::decode(ArrayKind::Caterva, &long).unwrap();
    assert_eq!(
        (meta.shape.as_slice(), meta.stored_chunk_shape()),
        (&[30][..], vec![9])
    );
    assert_eq!(meta.encode().unwrap(), short);
}

/// python-blosc2 4.14.1 wrote this for `asarray(np.array(2.75))`.
#[test]
fn an_array_without_axes_has_one_chunk_of_one_element() {
    let bytes = b"\x97\0\0\x90\x90\x90\0\xdb\0\0\0\x03<f8";
    let none = ArrayMeta::decode(ArrayKind::B2nd, bytes).unwrap();
    assert_eq!(none, meta(&[], &[], &[]));
    assert_eq!(none.encode().unwrap(), bytes);
    assert!(none.grid().is_empty());
    none.check(&header(8, Some(8), 8)).unwrap();
    assert!(none.check(&header(8, None, 0)).is_err());
}

#[test]
fn sixteen_axes_have_a_marker_that_is_not_of_an_array() {
    let sixteen = meta(&[2; 16], &[2; 16], &[1; 16]);
    let bytes = sixteen.encode().unwrap();
    assert_eq!(bytes[..4], [0x97, 0, 16, 0xa0]);
    assert_eq!(ArrayMeta::decode(ArrayKind::B2nd, &bytes).unwrap(), sixteen);
    let seventeen = meta(&[2; 17], &[2; 17], &[1; 17]);
    assert_eq!(seventeen.encode().unwrap_err().category(), Category::Usage);
    let mut bytes = bytes;
    bytes[2] = 17;
    let error = ArrayMeta::decode(ArrayKind::B2nd, &bytes).unwrap_err();
    assert_eq!(error.category(), Category::Unsupported);
    let error = ArrayMeta::decode(ArrayKind::Caterva, b"\x95\0\x09\x99").unwrap_err();
    assert_eq!(error.category(), Category::Unsupported);
}

#[test]
fn every_cut_is_cut_short_and_every_marker_is_checked() {
    let bytes = meta(&[5], &[4], &[2]).encode().unwrap();
    for len in 0..bytes.len() {
        let error = ArrayMeta::decode(ArrayKind::B2nd, &bytes[..len]).unwrap_err();
        assert_eq!(error.category(), Category::CutShort, "{len} bytes: {error}");
    }
    for at in [0, 3, 4, 13, 14, 19, 20, 25, 26] {
        let mut bytes = bytes.clone();
        bytes[at] = 0xc0;
        let error = ArrayMeta::decode(ArrayKind::B2nd, &bytes).unwrap_err();
        assert_eq!(error.category(), Category::Damaged, "byte {at}: {error}");
    }
    let mut other_version = bytes;
    other_version[1] = 1;
    let error = ArrayMeta::decode(ArrayKind::B2nd, &other_version).unwrap_err();
    assert_eq!(error.category(), Category::Unsupported);
}

#[test]
fn only_one_of_them_has_a_dtype() {
    let with = meta(&[5], &[4], &[2]);
    let bytes = with.encode().unwrap();
    assert!(ArrayMeta::decode(ArrayKind::Caterva, &bytes).is_err());
    let caterva = ArrayMeta {
        kind: ArrayKind::Caterva,
        ..with
    };
    assert_eq!(caterva.encode().unwrap_err().category(), Category::Usage);
}

#[test]
fn chunks_and_blocks_have_elements_where_the_array_has() {
    for (shape, chunk, block) in [([5], [0], [1]), ([5], [1], [0])] {
        let error = meta(&shape, &chunk, &block).encode().unwrap_err();
        assert_eq!(error.category(), Category::Usage);
    }
    let mut bytes = meta(&[5], &[4], &[2]).encode().unwrap();
    bytes[18] = 0;
    let error = ArrayMeta::decode(ArrayKind::B2nd, &bytes).unwrap_err();
    assert_eq!(error.category(), Category::Damaged);
}

#[test]
fn header_and_shapes_have_to_agree() {
    // Chunks of 4 by 5 in blocks of 2 by 3 are stored as 4 by 6.
    let array = meta(&[11, 10], &[4, 5], &[2, 3]);
    assert_eq!(array.stored_chunk_shape(), [4, 6]);
    assert_eq!(array.grid(), [3, 2]);
    array.check(&header(48, Some(192), 1152)).unwrap();
    for wrong in [
        header(40, Some(192), 1152),
        header(48, Some(160), 960),
        header(48, Some(192), 1344),
        header(48, Some(192), 1151),
        header(48, None, 0),
        FrameHeader {
            typesize: 4,
            ..header(48, Some(192), 1152)
        },
    ] {
        assert_eq!(
            array.check(&wrong).unwrap_err().category(),
            Category::Damaged,
            "{wrong:?}"
        );
    }
}

/// Real programs write arrays without elements in different ways: python-caterva writes no chunk size, the C library
/// does after a resize, and python-blosc2 writes chunks of the shape of the array.
#[test]
fn an_array_without_elements_has_no_chunks() {
    let array = meta(&[0, 4], &[2, 2], &[1, 2]);
    array.check(&header(16, None, 0)).unwrap();
    array.check(&header(16, Some(32), 0)).unwrap();
    assert!(array.check(&header(16, Some(40), 0)).is_err());
    assert!(array.check(&header(16, Some(32), 32)).is_err());
    let array = meta(&[0, 4], &[0, 4], &[0, 4]);
    assert_eq!(
        (array.grid(), array.stored_chunk_shape()),
        (vec![0, 1], vec![0, 4])
    );
    array.check(&header(0, None, 0)).unwrap();
    assert!(array.check(&header(0, Some(8), 8)).is_err());
}

#[test]
fn products_of_2_to_the_64_and_more_are_damage() {
    let long = u64::try_from(i64::MAX).unwrap();
    let most = u32::try_from(i32::MAX).unwrap();
    for array in [
        meta(&[long; 16], &[1; 16], &[1; 16]),
        meta(&[1; 16], &[most; 16], &[most; 16]),
        meta(&[1, 1], &[most, 1], &[most, 1]),
        meta(&[0, long], &[most, most], &[1, 1]),
    ] {
        let same = ArrayMeta::decode(ArrayKind::B2nd, &array.encode().unwrap());
        assert_eq!(same.unwrap(), array);
        for header in [header(8, Some(8), 8), header(8, None, 0)] {
            assert_eq!(
                array.check(&header).unwrap_err().category(),
                Category::Damaged
            );
        }
    }
}

#[test]
fn the_newer_metalayer_takes_precedence() {
    let mut metalayers = Metalayers::new();
    assert_eq!(ArrayMeta::of(&metalayers).unwrap(), None);
    metalayers.set("caterva", EXAMPLE.to_vec()).unwrap();
    let found = ArrayMeta::of(&metalayers).unwrap().unwrap();
    assert_eq!(found.kind, ArrayKind::Caterva);
    let newer = meta(&[5], &[4], &[2]);
    metalayers.set("b2nd", newer.encode().unwrap()).unwrap();
    assert_eq!(ArrayMeta::of(&metalayers).unwrap(), Some(newer));
}
