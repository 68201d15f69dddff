//! Any bytes as the parts of a frame: accepted parts are written and read again as the same, and shapes that agree
//! with a header have sizes that can be counted.

use bloscpack_open::frames::wire::{
    Trailer, chunk_file_name, chunk_number, decode_index, encode_index, is_frame,
};
use bloscpack_open::frames::{ArrayKind, ArrayMeta, FrameHeader};

fn header(input: &[u8]) {
    let Ok(header) = FrameHeader::decode(input) else {
        return;
    };
    assert!(is_frame(input));
    let prefix = FrameHeader::prefix(input).expect("read before");
    let bytes = header.encode().expect("it was written");
    assert_eq!(bytes.len(), header.encoded_len());
    assert_eq!(bytes.len(), prefix.header_len as usize);
    assert_eq!(FrameHeader::decode(&bytes).expect("our own"), header);
    if header.chunk_size.is_some() {
        assert_eq!(bytes, input[..bytes.len()]);
    }
    let nchunks = header.nchunks().expect("checked when decoded");
    if let Ok(Some(array)) = ArrayMeta::of(&header.metalayers)
        && array.check(&header).is_ok()
    {
        assert_eq!(product(&array.grid()), nchunks);
        let items = product(&array.stored_chunk_shape());
        assert!(items * u64::from(header.typesize) < 1 << 31);
    }
}

/// It can be counted, which the check has to make sure of.
fn product(shape: &[u64]) -> u64 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().product()
}

fn array(input: &[u8]) {
    for kind in [ArrayKind::Caterva, ArrayKind::B2nd] {
        if let Ok(array) = ArrayMeta::decode(kind, input) {
            assert!(input.starts_with(&array.encode().expect("it was written")));
            assert_eq!(array.grid().len(), array.stored_chunk_shape().len());
        }
    }
}

fn trailer(input: &[u8]) {
    if let Ok(trailer) = Trailer::decode(input) {
        assert_eq!(trailer.encode().expect("it was written"), input);
        let tail = &input[input.len() - Trailer::TAIL_LEN..];
        assert_eq!(
            Trailer::len_from_tail(tail).expect("read") as usize,
            input.len()
        );
    }
}

pub fn check(input: &[u8]) {
    header(input);
    array(input);
    trailer(input);
    // The parts of a whole frame.
    if let Ok(prefix) = FrameHeader::prefix(input) {
        trailer(input.get(prefix.header_len as usize..).unwrap_or_default());
    }
    if let Some(tail) = input.last_chunk::<{ Trailer::TAIL_LEN }>()
        && let Ok(len) = Trailer::len_from_tail(tail)
        && let Some(start) = input.len().checked_sub(len as usize)
    {
        trailer(&input[start..]);
    }
    if let Ok(places) = decode_index(input, (input.len() / 8) as u64) {
        assert_eq!(encode_index(&places).expect("it was written"), input);
    }
    if let Some(number) = input.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)) {
        assert_eq!(chunk_number(&chunk_file_name(number)), Some(number));
    }
    if let Ok(name) = std::str::from_utf8(input)
        && let Some(number) = chunk_number(name)
    {
        assert_eq!(chunk_file_name(number), name);
    }
}
