//! Tests that files with one record per chunk follow the proposal for variable-length data, read here by its layout
//! alone.
//!
//! The reader below uses nothing of the library: only the proposal's tables, C-Blosc for chunks that are compressed,
//! and published implementations of the checksums. Options that the proposal leaves open, and features of streams
//! that it does not cover, are tested separately.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "lengths and positions here are small"
)]

use bloscpack::{
    Checksum, Compressor, FormatVersion, Metadata,
    records::{RecordWriter, RecordWriterBuilder},
};
use proptest::prelude::*;
use sha2::Digest as _;
use std::io::Cursor;

use testkit::oracle;

/// The reader: header, metadata, offsets, and each item with its checksum.
mod proposal {
    use super::{digest, oracle};

    pub struct File {
        pub options: u8,
        pub checksum: u8,
        pub nchunks: i64,
        pub metadata: Option<serde_json::Value>,
        /// The last four bytes of the header.
        pub reserved: u32,
        pub offsets: Vec<i64>,
        pub items: Vec<Vec<u8>>,
        /// Where the last item ends.
        pub end: usize,
    }

    pub fn read(file: &[u8]) -> File {
        let int32 = |at: usize| i32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let int64 = |at: usize| i64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        assert_eq!(&file[..4], b"blpk");
        let (version, options, checksum, typesize) = (file[4], file[5], file[6], file[7]);
        assert_eq!((version, options & 0x04), (2, 0x04), "variable length");
        assert!((1..=255).contains(&typesize));
        let (chunk_size, last_chunk, nchunks) = (int32(8), int32(12), int64(16));
        assert_eq!((chunk_size, last_chunk), (-1, -1), "non-uniform");
        let meta_end = 32 + usize::try_from(int32(24)).unwrap();
        let has_metadata = options & 0x02 != 0;
        let metadata = has_metadata.then(|| serde_json::from_slice(&file[32..meta_end]).unwrap());
        let entries = if options & 0x01 != 0 { nchunks } else { 0 };
        let table = (0..usize::try_from(entries).unwrap()).map(|item| int64(meta_end + 8 * item));
        let offsets: Vec<i64> = table.collect();
        let mut end = meta_end + 8 * offsets.len();
        let mut items = Vec::new();
        for offset in &offsets {
            assert_eq!(usize::try_from(*offset).unwrap(), end, "items lie in order");
            let item;
            (item, end) = read_item(file, end, checksum);
            items.push(item);
        }
        let reserved = int32(28).cast_unsigned();
        File {
            options,
            checksum,
            nchunks,
            metadata,
            reserved,
            offsets,
            items,
            end,
        }
    }

    /// The item whose chunk begins here, and where its checksum ends.
    pub fn read_item(file: &[u8], at: usize, checksum: u8) -> (Vec<u8>, usize) {
        let length = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let (nbytes, ctbytes) = (length(at + 4), length(at + 12));
        assert!(
            ctbytes <= nbytes + 16,
            "no more than the original and 16 bytes"
        );
        let chunk = &file[at..at + ctbytes];
        // The flag of a chunk that holds its data as it is.
        let item = match chunk[2] & 0x02 {
            0 => oracle::decompress(chunk, nbytes),
            _ => chunk[16..].to_vec(),
        };
        assert_eq!(item.len(), nbytes);
        let expected = digest(checksum, chunk);
        let end = at + ctbytes + expected.len();
        assert_eq!(
            file[at + ctbytes..end],
            expected,
            "checksum of the compressed data"
        );
        (item, end)
    }
}

/// The checksums of the proposal by their numbers: those of Python's zlib and hashlib.
fn digest(checksum: u8, bytes: &[u8]) -> Vec<u8> {
    match checksum {
        0 => Vec::new(),
        1 => {
            let (mut a, mut b) = (1_u32, 0_u32);
            for byte in bytes {
                a = (a + u32::from(*byte)) % 65521;
                b = (b + a) % 65521;
            }
            ((b << 16) | a).to_le_bytes().to_vec()
        }
        2 => crc32(bytes).to_le_bytes().to_vec(),
        3 => md5::Md5::digest(bytes).to_vec(),
        4 => sha1::Sha1::digest(bytes).to_vec(),
        5 => sha2::Sha224::digest(bytes).to_vec(),
        6 => sha2::Sha256::digest(bytes).to_vec(),
        7 => sha2::Sha384::digest(bytes).to_vec(),
        8 => sha2::Sha512::digest(bytes).to_vec(),
        other => panic!("no checksum {other}"),
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, byte)
}

#[derive(Debug, Clone)]
struct Case {
    compressor: Compressor,
    level: u8,
    checksum: Checksum,
    typesize: u8,
    count_known: bool,
    own: Option<&'static str>,
    records: Vec<Vec<u8>>,
}

impl Case {
    fn builder(&self) -> RecordWriterBuilder {
        let mut builder = RecordWriter::builder()
            .compressor(self.compressor)
            .level(self.level)
            .checksum(self.checksum)
            .typesize(self.typesize);
        if let Some(own) = self.own {
            builder = builder.metadata(Metadata::from_json(own).unwrap());
        }
        if self.count_known {
            builder = builder.count(self.records.len() as u64);
        }
        builder
    }

    fn file(&self) -> Vec<u8> {
        let mut writer = self
            .builder()
            .write_to_file(Cursor::new(Vec::new()))
            .unwrap();
        self.records
            .iter()
            .for_each(|one| writer.push(one).unwrap());
        writer.finish().unwrap().into_inner()
    }

    fn stream(&self) -> Vec<u8> {
        let mut writer = self.builder().write_to(Vec::new()).unwrap();
        self.records
            .iter()
            .for_each(|one| writer.push(one).unwrap());
        writer.finish().unwrap()
    }

    /// Checks the metadata besides `shape`.
    fn check_metadata(&self, metadata: &serde_json::Value) {
        let own = self
            .own
            .map(|own| serde_json::from_str::<serde_json::Value>(own).unwrap());
        let dtype = own.as_ref().and_then(|own| own["dtype"].as_str());
        assert_eq!(metadata["dtype"], dtype.unwrap_or("varbinary"));
        let others = own.as_ref().and_then(|own| own.get("others"));
        assert_eq!(metadata.get("others"), others);
        assert_eq!(metadata.get("packing"), None);
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let text = (0_usize..3000).prop_map(|len| b"to be, or not to be".repeat(200)[..len].to_vec());
    let record = prop_oneof![
        2 => Just(Vec::new()),
        4 => prop::collection::vec(any::<u8>(), 1..200),
        4 => text,
        1 => (0_usize..200_000, any::<u8>()).prop_map(|(len, by)| {
            (0..len).map(|at| (at / 3) as u8 ^ by).collect()
        }),
    ];
    let own = prop::sample::select(vec![
        None,
        Some("{}"),
        Some(r#"{"dtype": "varchar", "shape": [1024], "others": []}"#),
        Some(r#"{"others": {"a": [1.5, null, "\u00e9"]}}"#),
    ]);
    (
        prop::sample::select(Compressor::ALL.to_vec()),
        0_u8..10,
        prop::sample::select(Checksum::ALL.to_vec()),
        1_u8..20,
        any::<bool>(),
        own,
        prop::collection::vec(record, 0..40),
    )
        .prop_map(
            |(compressor, level, checksum, typesize, count_known, own, records)| Case {
                compressor,
                level,
                checksum,
                typesize,
                count_known,
                own,
                records,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testkit::effort::models(400), ..ProptestConfig::default() })]

    #[test]
    fn a_file_is_what_the_proposal_describes(case in cases()) {
        let file = case.file();
        let read = proposal::read(&file);
        prop_assert_eq!(&read.items, &case.records);
        prop_assert_eq!(read.end, file.len());
        prop_assert_eq!(read.nchunks, case.records.len() as i64);
        prop_assert_eq!(read.checksum, case.checksum.id());
        let metadata = read.metadata.unwrap();
        prop_assert_eq!(&metadata["shape"], &serde_json::json!([case.records.len()]));
        case.check_metadata(&metadata);

        // Ours: bit 3, and in the reserved word the crc32 of all before the chunks with it zero.
        prop_assert_eq!(read.options, 0x01 | 0x02 | 0x04 | 0x08);
        let chunks_at = read.offsets.first().map_or(file.len(), |at| *at as usize);
        let mut front = file[..chunks_at].to_vec();
        front[28..32].fill(0);
        prop_assert_eq!(read.reserved, crc32(&front));
    }

    /// A stream has the same items; without a place to go back to, it has offsets of -1 where their
    /// number is known beforehand, and else neither number nor offsets, but an end mark.
    #[test]
    fn a_stream_differs_only_in_what_it_cannot_know(case in cases()) {
        let (file, stream) = (case.file(), case.stream());
        let in_file = proposal::read(&file);
        let chunks_of_file = in_file.offsets.first().map_or(file.len(), |at| *at as usize);
        let int64 = |at: usize| i64::from_le_bytes(stream[at..at + 8].try_into().unwrap());
        let meta_size = u32::from_le_bytes(stream[24..28].try_into().unwrap()) as usize;
        let table_at = 32 + meta_size;
        let metadata: serde_json::Value = serde_json::from_slice(&stream[32..table_at]).unwrap();
        case.check_metadata(&metadata);
        // Header bytes but for options, number, meta-size and seal are those of the file.
        prop_assert_eq!(&stream[..5], &file[..5]);
        prop_assert_eq!(&stream[6..16], &file[6..16]);
        let mut chunks_at = table_at;
        let mut end = stream.len();
        if case.count_known {
            prop_assert_eq!(stream[5], 0x01 | 0x02 | 0x04 | 0x08);
            prop_assert_eq!(int64(16), case.records.len() as i64);
            prop_assert_eq!(&metadata["shape"], &serde_json::json!([case.records.len()]));
            chunks_at += 8 * case.records.len();
            prop_assert!(stream[table_at..chunks_at].iter().all(|byte| *byte == 0xff));
        } else {
            prop_assert_eq!(stream[5], 0x02 | 0x04 | 0x08);
            prop_assert_eq!(int64(16), -1);
            prop_assert_eq!(metadata.get("shape"), None);
            let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
            let ending = [&mark[..], &digest(case.checksum.id(), &mark)].concat();
            prop_assert!(stream.ends_with(&ending));
            end -= ending.len();
        }
        prop_assert_eq!(&stream[chunks_at..end], &file[chunks_of_file..]);
        let mut front = stream[..chunks_at].to_vec();
        front[28..32].fill(0);
        prop_assert_eq!(&stream[28..32], &crc32(&front).to_le_bytes());
    }
}

#[test]
fn nothing_but_the_header_differs_where_v3_is_asked_for() {
    let write = |layout| {
        let builder = RecordWriter::builder().version(layout);
        let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
        for record in ["one", "", "three"] {
            writer.push(record).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let (v2, v3) = (write(FormatVersion::V2), write(FormatVersion::V3));
    let chunks = proposal::read(&v2).offsets[0] as usize;
    assert!(v3.ends_with(&v2[chunks..]));
    assert_eq!((v3[4], v3[5]), (3, 0x01 | 0x02 | 0x04));
}
