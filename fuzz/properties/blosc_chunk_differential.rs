//! C-Blosc decodes each chunk that our decoder accepts to the same data; and each reads the chunks of the other. The
//! input is a chunk, or a Bloscpack file whose first chunk is taken.

use bloscpack::blosc::{
    ChunkDecoder, ChunkEncoder, ChunkHeader, ChunkSettings, Compressor, Filter,
};
use bloscpack::{Options, survey::Survey};

use testkit::oracle;

fn decode_both(chunk: &[u8]) {
    let Some(Ok(header)) = chunk.first_chunk().map(ChunkHeader::parse) else {
        return;
    };
    // C-Blosc 1 does not read Blosc 2.
    if header.nbytes > 1 << 20 || header.is_end_mark() || header.is_blosc2() {
        return;
    }
    let chunk = chunk.get(..header.ctbytes as usize).unwrap_or(chunk);
    let mut data = vec![0; header.nbytes as usize];
    let mut decoder = ChunkDecoder::with_max_block(1 << 20);
    let is_valid = decoder.validate(chunk).is_ok();
    let result = decoder.decode(chunk, &mut data);
    let mut shared = vec![0; data.len()];
    let mut threads = ChunkDecoder::with_max_block(1 << 20).threads(2);
    assert_eq!(threads.decode(chunk, &mut shared).is_ok(), result.is_ok());
    if result.is_err() {
        return;
    }
    assert!(is_valid && shared == data);
    let (start, end) = (data.len() / 3, data.len() / 2);
    let mut part = vec![0; end - start];
    decoder
        .decode_range(chunk, start as u32, &mut part)
        .expect("as the whole");
    assert!(part == data[start..end]);
    // C-Blosc refuses the versions before that of Blosc 1.0.
    if header.version < 2 {
        return;
    }
    // It panics where C-Blosc refuses what we take.
    assert!(oracle::decompress(chunk, data.len()) == data, "{header:?}");
}

fn encode_both(input: &[u8]) {
    let [a, b, typesize, data @ ..] = input else {
        return;
    };
    let settings = ChunkSettings::default()
        .compressor(Compressor::ALL[usize::from(a % 6)])
        .level(b % 10)
        .filter(Filter::ALL[usize::from(b / 10 % 3)])
        .typesize((*typesize).max(1));
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).expect("valid settings");
    encoder.encode(data, &mut chunk).expect("short enough");
    let back = oracle::decompress(&chunk, data.len());
    assert!(back == data, "{settings:?}");
    let mut out = vec![0; data.len() + 16];
    let written = encoder.encode_into(data, &mut out).expect("always enough");
    assert!(out[..written.ctbytes as usize] == chunk);
    let mut shared = Vec::new();
    let mut threads = ChunkEncoder::new(settings)
        .expect("valid settings")
        .threads(2);
    threads.encode(data, &mut shared).expect("short enough");
    assert!(shared == chunk, "{settings:?}");
    let chunk = oracle::compress(&settings, data, 0);
    let mut back = vec![0; data.len()];
    ChunkDecoder::new()
        .decode(&chunk, &mut back)
        .expect("C-Blosc's own");
    assert!(back == data, "{settings:?}");
}

pub fn check(input: &[u8]) {
    let survey = input
        .starts_with(b"blpk")
        .then(|| Survey::of(input, &Options::new()));
    let first = survey.and_then(|survey| survey.ok()?.members[0].first_chunk_at);
    decode_both(&input[first.unwrap_or(0) as usize..]);
    encode_both(input);
}
