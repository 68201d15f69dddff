//! Tests of indexes that point many chunks to one place, and of other input that would take more resources than its
//! size justifies.

use blosc1::Fault;
use blosc1::{ChunkDecoder, SpecialValue, special_chunk};
use bloscpack::Options;
use bloscpack_frames::wire::Trailer;
use bloscpack_frames::{Frame, FrameHeader};
use bloscpack_storage::Memory;
use std::ffi::OsStr;

const LEN: u32 = 1000;

fn data() -> Vec<u8> {
    (0..LEN).map(|i| (i * i % 251) as u8).collect()
}

/// A frame of `chunks` chunks that share the same bytes.
fn shared(chunks: u32) -> Vec<u8> {
    let mut frame = Frame::builder(1, LEN).in_memory().unwrap();
    frame.append(&data()).unwrap();
    let chunk = frame.compressed_chunk(0).unwrap();
    let bytes = frame.to_bytes().unwrap();
    let mut header = FrameHeader::decode(&bytes).unwrap();
    let index = special_chunk(SpecialValue::Value(&[0; 8]), chunks * 8, 8, chunks * 8).unwrap();
    let back = [index, Trailer::default().encode().unwrap()].concat();
    header.content_len = u64::from(chunks) * u64::from(LEN);
    header.section_len = chunk.len() as u64;
    header.frame_len = (header.encoded_len() + chunk.len() + back.len()) as u64;
    [header.encode().unwrap(), chunk, back].concat()
}

/// The chunk that is replaced is not taken from the others.
#[test]
fn a_shared_chunk_is_not_lost_when_one_entry_is_replaced() {
    let memory = Memory::from([("frame", shared(3))]);
    let name = OsStr::new("frame");
    let mut frame = Frame::edit_in(memory.clone(), name, &Options::new()).unwrap();
    for round in 0..3u8 {
        frame.replace(1, &[round + 1; LEN as usize]).unwrap();
        frame.flush().unwrap();
        assert_eq!(frame.chunk(0).unwrap(), data());
    }
    frame.remove(0).unwrap();
    frame.flush().unwrap();
    drop(frame);
    let frame = Frame::edit_in(memory, name, &Options::new()).unwrap();
    assert_eq!(frame.chunk(0).unwrap(), [3; LEN as usize]);
    assert_eq!(frame.chunk(1).unwrap(), data());
}

/// A few bytes do not become gigabytes in memory.
#[test]
fn a_copy_is_not_longer_than_what_is_there() {
    let bytes = shared(50_000);
    let frame = Frame::from_bytes(bytes).unwrap();
    let copy = frame.to_bytes().unwrap();
    assert!(copy.len() < 1_000_000, "{} bytes", copy.len());
    assert_eq!(
        Frame::from_bytes(copy).unwrap().chunk(49_999).unwrap(),
        data()
    );
}

#[test]
fn a_report_has_an_end() {
    let report = Frame::from_bytes(shared(50_000)).unwrap().verify(|_| {});
    assert!(
        !report.is_sound() && report.damages.len() <= 2100,
        "{}",
        report.damages.len()
    );
}

/// Dead bytes do not stay between header and trailer, where readers of frames without chunks look for none.
#[test]
fn an_emptied_frame_is_header_and_trailer() {
    let bytes = shared(2);
    let mut header = FrameHeader::decode(&bytes).unwrap();
    let front = &bytes[..header.encoded_len() + header.section_len as usize];
    let zeros = 0x81u64 << 56;
    let index = special_chunk(SpecialValue::Value(&zeros.to_le_bytes()), 16, 8, 16).unwrap();
    let back = [index, Trailer::default().encode().unwrap()].concat();
    header.frame_len = (front.len() + back.len()) as u64;
    let front = &front[header.encoded_len()..];
    let bytes = [&header.encode().unwrap(), front, &back].concat();
    let memory = Memory::from([("frame", bytes)]);
    let mut frame = Frame::edit_in(memory.clone(), OsStr::new("frame"), &Options::new()).unwrap();
    assert_eq!(frame.chunk(1).unwrap(), [0; LEN as usize]);
    frame.remove(0).unwrap();
    frame.remove(0).unwrap();
    frame.flush().unwrap();
    let len = frame.header().encoded_len() + Trailer::MIN_LEN;
    assert_eq!(memory.bytes("frame").unwrap().len(), len);
}

/// If blocks depend on the first, it is checked for each of them that its stream is no longer than its decoded bytes.
#[test]
fn a_long_first_block_is_not_gone_through_for_every_other() {
    let blocks = 100u32;
    // Frames of zstd that are skipped, and one with 32 bytes as they are.
    let mut stream = vec![0x50, 0x2a, 0x4d, 0x18];
    let skipped = 1000u32;
    stream.extend(skipped.to_le_bytes());
    stream.resize(8 + skipped as usize, 0);
    stream.extend([0x28, 0xb5, 0x2f, 0xfd, 0x20, 32, 0x01, 0x01, 0x00]);
    stream.extend([7; 32]);
    let mut chunk = vec![5, 1, 0x95, 1];
    chunk.extend((blocks * 32).to_le_bytes());
    chunk.extend(32u32.to_le_bytes());
    let first = 32 + 4 * blocks;
    let second = first + 4 + stream.len() as u32;
    chunk.extend((second + 4).to_le_bytes());
    chunk.extend([0, 0, 0, 0, 0, 3, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chunk.extend(first.to_le_bytes());
    for _ in 1..blocks {
        chunk.extend(second.to_le_bytes());
    }
    chunk.extend((stream.len() as u32).to_le_bytes());
    chunk.extend(&stream);
    chunk.extend([0; 4]);
    let mut decoder = ChunkDecoder::new();
    for block in [0, 1, 99] {
        let error = decoder
            .decode_block(&chunk, block, &mut [0; 32])
            .unwrap_err();
        assert_eq!(error.fault(), Fault::Damaged, "{error}");
    }
    let mut data = vec![0; blocks as usize * 32];
    assert!(decoder.decode(&chunk, &mut data).is_err());
    // Without delta, all blocks could begin at that stream.
    chunk[21] = 0;
    let error = decoder.decode(&chunk, &mut data).unwrap_err();
    assert_eq!(error.fault(), Fault::Damaged, "{error}");
}
