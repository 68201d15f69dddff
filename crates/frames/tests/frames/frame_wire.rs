//! Tests of frames that real programs wrote: compared with their manifests, written again byte by byte, and read with
//! changed bits or missing bytes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use testkit::frames;

use bloscpack_error::Category;
use bloscpack_frames::wire::{
    ChunkPlace, Trailer, chunk_file_name, decode_index, encode_index, is_frame,
};
use bloscpack_frames::{ArrayKind, ArrayMeta, FrameHeader, FrameKind};
use frames::Frame;
use std::collections::BTreeSet;

/// The parts of a frame.
struct Parts {
    header: Vec<u8>,
    /// The bytes between header and trailer.
    middle: Vec<u8>,
    trailer: Vec<u8>,
}

fn parts(bytes: &[u8]) -> Parts {
    assert!(is_frame(bytes));
    let prefix = FrameHeader::prefix(&bytes[..FrameHeader::PREFIX_LEN]).unwrap();
    assert_eq!(prefix.frame_len, bytes.len() as u64);
    let tail = &bytes[bytes.len() - Trailer::TAIL_LEN..];
    let trailer_len = Trailer::len_from_tail(tail).unwrap() as usize;
    let (header, rest) = bytes.split_at(prefix.header_len as usize);
    let (middle, trailer) = rest.split_at(rest.len() - trailer_len);
    Parts {
        header: header.to_vec(),
        middle: middle.to_vec(),
        trailer: trailer.to_vec(),
    }
}

#[test]
fn chosen_frames_say_what_their_programs_wrote() {
    frames::chosen().iter().for_each(compare);
}

#[test]
fn all_frames_of_the_corpora_say_what_their_programs_wrote() {
    frames::whole().iter().for_each(compare);
}

fn compare(frame: &Frame) {
    let name = frame.name();
    let parts = parts(&frame.bytes());
    let header = FrameHeader::decode(&parts.header).unwrap();
    let trailer = Trailer::decode(&parts.trailer).unwrap();
    compare_header(frame, &header);
    let names: Vec<_> = trailer.vlmetalayers.iter().map(|(name, _)| name).collect();
    let names: BTreeSet<_> = names.into_iter().collect();
    assert_eq!(
        names,
        frame.names("vlmetalayers").into_iter().collect(),
        "{name}"
    );
    assert_eq!(header.has_vlmetalayers, !names.is_empty(), "{name}");
    // Each value is a Blosc2 chunk, which says how long it is.
    for (_, chunk) in trailer.vlmetalayers.iter() {
        let len = u32::from_le_bytes(chunk[12..16].try_into().unwrap());
        assert_eq!((chunk[0], len as usize), (5, chunk.len()), "{name}");
    }
    compare_array(frame, &header);
    compare_index(frame, &header, &parts.middle);

    assert_eq!(header.encoded_len(), parts.header.len(), "{name}");
    assert!(header.encode().unwrap() == parts.header, "{name}");
    assert!(trailer.encode().unwrap() == parts.trailer, "{name}");
}

fn compare_header(frame: &Frame, header: &FrameHeader) {
    let name = frame.name();
    let kind = if frame.is_sparse() {
        FrameKind::Sparse
    } else {
        FrameKind::Contiguous
    };
    assert_eq!(header.kind, kind, "{name}");
    assert_eq!(
        Some(u64::from(header.typesize)),
        frame.entry["typesize"].as_u64(),
        "{name}"
    );
    let codecs = ["blosclz", "lz4", "lz4hc", "", "zlib", "zstd"];
    if let Some(codec) = frame.entry["codec"].as_str() {
        assert_eq!(codecs[usize::from(header.codec)], codec, "{name}");
        assert_eq!(header.codec_id, header.codec, "{name}");
        assert_eq!(
            Some(u64::from(header.level)),
            frame.entry["clevel"].as_u64(),
            "{name}"
        );
    }
    let filters = ["nofilter", "shuffle", "bitshuffle", "delta", "trunc_prec"];
    if !frame.entry["filters"].is_null() {
        let found = header.filters.map(|filter| filters[usize::from(filter)]);
        assert_eq!(found.to_vec(), frame.names("filters"), "{name}");
    }
    let names: BTreeSet<_> = header.metalayers.iter().map(|(name, _)| name).collect();
    if let Some(expected) = frame.entry["metalayers"].as_object() {
        for (layer, bytes) in expected {
            let hex: String = header
                .metalayers
                .get(layer)
                .unwrap()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(Some(hex.as_str()), bytes.as_str(), "{name}: {layer}");
        }
    }
    if !frame.entry["metalayers"].is_null() {
        assert_eq!(
            names,
            frame.names("metalayers").into_iter().collect(),
            "{name}"
        );
    }
}

fn compare_array(frame: &Frame, header: &FrameHeader) {
    let name = frame.name();
    let array = ArrayMeta::of(&header.metalayers).unwrap().unwrap();
    let wide = |shape: &[u32]| shape.iter().copied().map(u64::from).collect::<Vec<_>>();
    assert_eq!(array.kind.name(), frame.text("metalayer"), "{name}");
    assert_eq!(array.shape, frame.numbers("shape"), "{name}");
    assert_eq!(
        wide(&array.chunk_shape),
        frame.numbers("chunkshape"),
        "{name}"
    );
    assert_eq!(
        wide(&array.block_shape),
        frame.numbers("blockshape"),
        "{name}"
    );
    match (array.kind, &array.dtype) {
        (ArrayKind::Caterva, None) => {}
        (ArrayKind::B2nd, Some(dtype)) => {
            // The bar means no byte order; within fields the program leaves it out.
            let (found, expected) = (dtype.text.replace('|', ""), frame.text("dtype"));
            assert_eq!(found, expected.replace('|', ""), "{name}");
            assert_eq!(dtype.format, 0, "{name}");
        }
        other => unreachable!("{name}: {other:?}"),
    }
    array.check(header).unwrap();
    // An array that lost axes keeps the length of its metalayer.
    let stored = header.metalayers.get(array.kind.name()).unwrap();
    let encoded = array.encode().unwrap();
    assert!(stored.starts_with(&encoded), "{name}");
    assert_eq!(
        stored.len() > encoded.len(),
        name.contains("squeeze"),
        "{name}"
    );
}

/// The index, where it is stored in a way that can be read without a compressor.
fn compare_index(frame: &Frame, header: &FrameHeader, middle: &[u8]) {
    let (name, nchunks) = (frame.name(), header.nchunks().unwrap());
    if nchunks == 0 {
        assert!(middle.is_empty(), "{name}");
        return;
    }
    let (start, chunks_len) = match header.kind {
        FrameKind::Contiguous => (
            usize::try_from(header.section_len).unwrap(),
            header.section_len,
        ),
        FrameKind::Sparse => (0, 0),
    };
    let index = &middle[start..];
    let len = usize::try_from(nchunks).unwrap() * 8;
    let raw = match (index[2] & 2 != 0, index[31] >> 4) {
        (true, _) => index[32..32 + len].to_vec(),
        (_, 1) => vec![0; len],
        (_, 3) => index[32..40].repeat(len / 8),
        _ => return,
    };
    let places = decode_index(&raw, nchunks).unwrap();
    assert_eq!(encode_index(&places).unwrap(), raw, "{name}");
    for place in places {
        match (place, header.kind) {
            (ChunkPlace::At(at), FrameKind::Contiguous) => assert!(at + 32 <= chunks_len, "{name}"),
            (ChunkPlace::At(number), FrameKind::Sparse) => {
                assert!(frame.root.join(chunk_file_name(number)).is_file(), "{name}");
            }
            _ => {}
        }
    }
}

/// Where the chunk size is.
const CHUNK_SIZE: std::ops::Range<usize> = 58..62;

/// Accepted bytes are written again unchanged, and read again as the same.
#[test]
fn a_changed_bit_is_an_error_or_part_of_what_is_read() {
    for frame in frames::chosen() {
        let (name, parts) = (frame.name(), parts(&frame.bytes()));
        for bit in 0..parts.header.len() * 8 {
            let mut bytes = parts.header.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(header) = FrameHeader::decode(&bytes) {
                let again = header.encode().unwrap();
                let mut same = bytes[..again.len()].to_vec();
                if header.chunk_size.is_none() {
                    // 0 and -1 are the same there.
                    same[CHUNK_SIZE].copy_from_slice(&again[CHUNK_SIZE]);
                }
                assert!(again == same, "{name}: bit {bit}");
                if let Ok(Some(array)) = ArrayMeta::of(&header.metalayers) {
                    let stored = header.metalayers.get(array.kind.name()).unwrap();
                    assert!(
                        stored.starts_with(&array.encode().unwrap()),
                        "{name}: bit {bit}"
                    );
                    let _ = array.check(&header);
                }
            }
        }
        for bit in 0..parts.trailer.len() * 8 {
            let mut bytes = parts.trailer.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(trailer) = Trailer::decode(&bytes) {
                assert!(trailer.encode().unwrap() == bytes, "{name}: bit {bit}");
            }
        }
    }
}

/// Every number that chunks or their shapes depend on is in the header twice.
#[test]
fn a_changed_bit_of_a_shape_is_noticed() {
    let frame = frames::chosen();
    let frame = frame
        .iter()
        .find(|frame| frame.name() == "d8_i2_low.cat")
        .unwrap();
    let parts = parts(&frame.bytes());
    let header = FrameHeader::decode(&parts.header).unwrap();
    let stored = header.metalayers.get("caterva").unwrap();
    let mut noticed = 0;
    for bit in 0..stored.len() * 8 {
        let mut bytes = stored.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let array = ArrayMeta::decode(ArrayKind::Caterva, &bytes);
        noticed += usize::from(array.and_then(|array| array.check(&header)).is_err());
    }
    // Shapes that cut into as many chunks, and chunks that round up to the same blocks, are left.
    assert!(
        noticed * 20 > stored.len() * 8 * 19,
        "{noticed} of {}",
        stored.len() * 8
    );
}

#[test]
fn cut_frames_are_cut_short() {
    for frame in frames::chosen() {
        let (name, parts) = (frame.name(), parts(&frame.bytes()));
        for len in 0..parts.header.len() {
            let error = FrameHeader::decode(&parts.header[..len]).unwrap_err();
            assert_eq!(
                error.category(),
                Category::CutShort,
                "{name}: {len} bytes: {error}"
            );
        }
        for len in 0..parts.trailer.len() {
            let error = Trailer::decode(&parts.trailer[..len]).unwrap_err();
            assert_eq!(
                error.category(),
                Category::CutShort,
                "{name}: {len} bytes: {error}"
            );
        }
    }
}

/// `zeros((0, 4)).to_cframe()` of python-blosc2 3.3.1: chunks and blocks of one item, no chunk size.
const EMPTY_3_3_1: &str = "9ea862326672616d6500d2000000a5cf00000000000000c8a412001502\
    d30000000000000000d30000000000000000d200000008d200000008d2ffffffffd10000d10001c2\
    d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c600000035\
    97000292d30000000000000000d3000000000000000492d200000001d20000000192d200000001d20000000100db000000033c6638\
    940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
/// The same of python-blosc2 4.14.1: chunks and blocks of the array's shape, and all may vary in length.
const EMPTY_4_14_1: &str = "9ea862326672616d6500d2000000a5cf00000000000000c8a453005502\
    d30000000000000000d30000000000000000d200000008d200000000d200000000d10000d10001c2\
    d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c600000035\
    97000292d30000000000000000d3000000000000000492d200000000d20000000492d200000000d20000000400db000000033c6638\
    940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";

#[test]
fn arrays_without_items_are_read_from_whatever_writes_them() {
    // Versions 3.8.0 and 3.12.2 differ from 4.14.1 in the flags alone.
    let between = EMPTY_4_14_1.replace("a453", "a412");
    for (hex, flags, blocksize, chunk, exact) in [
        (EMPTY_3_3_1, 0x12, 8, [1, 1], true),
        (&between, 0x12, 0, [0, 4], false),
        (EMPTY_4_14_1, 0x53, 0, [0, 4], true),
    ] {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let mut parts = parts(&bytes);
        assert!(parts.middle.is_empty());
        let header = FrameHeader::decode(&parts.header).unwrap();
        assert_eq!((header.flags, header.blocksize), (flags, blocksize));
        assert_eq!((header.chunk_size, header.nchunks().unwrap()), (None, 0));
        if !exact {
            // 0 where the others write -1, which is how it is written again.
            parts.header[CHUNK_SIZE].fill(0xff);
        }
        assert_eq!(header.encode().unwrap(), parts.header);
        let array = ArrayMeta::of(&header.metalayers).unwrap().unwrap();
        assert_eq!(
            (array.shape.as_slice(), array.chunk_shape.as_slice()),
            (&[0, 4][..], &chunk[..])
        );
        array.check(&header).unwrap();
        assert_eq!(Trailer::decode(&parts.trailer).unwrap(), Trailer::default());
    }
}
