//! Tests that one flipped bit anywhere in a file is an error or changes nothing.
//!
//! Which flips change nothing is written down here, bit by bit, as [`harmless`], and compared
//! with what the library does: both a harmless flip that is not in the list and one in the list
//! that is no longer harmless fail.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::{Decoder, Options, survey::Survey, verify::verify};
use std::collections::BTreeMap;
use std::io::Read;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};
use testkit::stopwatch::HANG;

use golden::{Field, Golden, Part, corpus, goldens, i64_at, parts, u32_at};
use testkit::effort;
use testkit::golden;
use testkit::tally;

/// The largest chunk size that the format has.
const MAX_SIZE: i64 = 2_147_483_631;

/// The known properties of a member.
struct Member {
    start: usize,
    version: u8,
    options: u8,
    checksum: u8,
    last_in_file: bool,
    /// Uncompressed length of each chunk.
    chunks: Vec<i64>,
    chunk_size: i64,
    last_chunk: i64,
    nchunks: i64,
    /// The last eight bytes of the header.
    tail: i64,
}

impl Member {
    fn of(file: &[u8], number: usize, map: &[Part]) -> Self {
        let own: Vec<_> = map.iter().filter(|part| part.member == number).collect();
        let start = own[0].at.start;
        let version = file[start + 4];
        let chunks = own.iter().filter(|part| part.field == Field::Chunk);
        let size = |at| i64::from(u32_at(file, start + at).cast_signed());
        let mut member = Self {
            start,
            version,
            options: 0,
            checksum: 0,
            last_in_file: map.iter().all(|part| part.member <= number),
            chunks: chunks
                .map(|part| u32_at(file, part.at.start + 4).into())
                .collect(),
            chunk_size: -1,
            last_chunk: -1,
            nchunks: i64_at(file, start + if version == 1 { 8 } else { 16 }),
            tail: 0,
        };
        if version > 1 {
            (member.options, member.checksum) = (file[start + 5], file[start + 6]);
            (member.chunk_size, member.last_chunk) = (size(8), size(12));
            member.tail = i64_at(file, start + 24);
        }
        member
    }

    fn has_offsets(&self) -> bool {
        self.options & 1 != 0
    }

    fn has_metadata(&self) -> bool {
        self.options & 2 != 0
    }

    /// The name of such members in the table.
    fn container(&self) -> String {
        let kind = if self.nchunks < 0 { "stream" } else { "file" };
        let guard = match self.checksum {
            _ if self.version == 1 => "",
            _ if self.is_sealed() => ", sealed",
            0 => ", no checksum",
            _ => ", checksum",
        };
        format!("{kind} V{}{guard}", self.version)
    }

    fn is_sealed(&self) -> bool {
        self.version == 2 && self.options & 8 != 0
    }

    /// Whether the chunks fit these fields, of which -1 fits all.
    fn sizes_fit(&self, chunk_size: i64, last_chunk: i64, version: u8) -> bool {
        let known = |size: i64| size >= 0;
        let in_range = |size: i64| (-1..=MAX_SIZE).contains(&size);
        let ordered = !known(chunk_size) || !known(last_chunk) || last_chunk <= chunk_size;
        let fits = match self.chunks.split_last() {
            None => true,
            Some((last, before)) => {
                let last_fits = match self.nchunks {
                    -1 => !known(chunk_size) || *last <= chunk_size,
                    _ => !known(last_chunk) || *last == last_chunk,
                };
                last_fits && (!known(chunk_size) || before.iter().all(|size| *size == chunk_size))
            }
        };
        in_range(chunk_size) && in_range(last_chunk) && (ordered || version == 2) && fits
    }
}

/// Whether the flip that turns `old` into `new` changes neither data nor metadata, in a member
/// with a checksum. `new` and `old` are the field as a signed number, the first eight bytes of it
/// where it is longer.
fn harmless(member: &Member, field: Field, new: i64) -> bool {
    if member.is_sealed() {
        // The seal covers all that the digests do not.
        return false;
    }
    let counted = member.nchunks >= 0;
    match field {
        // Nothing that is read depends on it: each chunk names its own.
        Field::Typesize => true,
        // 2 and 3 differ in nothing that this member has.
        Field::Version => {
            let same = member.tail == 0 && !member.has_metadata();
            // With raw metadata it is the layout of December 2012.
            let dev = member.version == 2 && member.has_metadata() && !member.is_sealed();
            let other = member.version ^ 1;
            let fits = dev || member.sizes_fit(member.chunk_size, member.last_chunk, other);
            new == i64::from(other) && (same || dev) && fits
        }
        // A table of unknown length may have no entries.
        Field::Options => !counted && !member.has_offsets() && new == i64::from(member.options | 1),
        // "None" after the only digest of an input: the reference, too, takes the following bytes for a remnant of
        // its append.
        Field::Checksum => {
            let one = if counted { 1 } else { 0 };
            member.version == 3 && new == 0 && member.last_in_file && member.chunks.len() == one
        }
        Field::ChunkSize => member.sizes_fit(new, member.last_chunk, member.version),
        // Without a table there is nothing to be spare.
        Field::MaxApp => {
            let sum = member.nchunks.checked_add(new);
            !member.has_offsets() && counted && new >= 0 && sum.is_some()
        }
        // Undefined by the format, zero from all writers, passed over by the reference.
        Field::SectionOptions | Field::SectionUserCodec | Field::SectionRoom => true,
        // Not used for reading.
        Field::SectionLevel => (0..=9).contains(&new),
        _ => false,
    }
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Error,
    Same,
    OtherMetadata,
    Wrong,
}

fn decode(file: &[u8]) -> Result<Vec<u8>, bloscpack::Error> {
    let mut data = Vec::new();
    Decoder::new(file).read_to_end(&mut data)?;
    Ok(data)
}

fn metadata(file: &[u8]) -> Vec<Option<String>> {
    let survey = Survey::of(file, &Options::new()).unwrap();
    let text =
        |member: &bloscpack::survey::Member| member.metadata.as_ref().map(|m| m.text().to_owned());
    survey.members.iter().map(text).collect()
}

fn outcome(golden: &Golden, file: &[u8]) -> Outcome {
    let decoded = decode(file);
    let report = verify(file, &Options::new(), |_| Ok(())).unwrap();
    assert_eq!(report.is_sound(), decoded.is_ok(), "verify and Decoder");
    match decoded {
        Err(_) => Outcome::Error,
        Ok(data) if data != golden.data => Outcome::Wrong,
        Ok(data) => {
            assert_eq!(report.bytes, data.len() as u64);
            if metadata(file) == metadata(&golden.file) {
                Outcome::Same
            } else {
                Outcome::OtherMetadata
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    flips: u32,
    slowest: Duration,
    harmless: BTreeMap<Field, u32>,
    complaints: Vec<String>,
    table: tally::Table,
}

/// The field after the flip, as a signed number.
fn number(file: &[u8], part: &Part, bit: usize) -> i64 {
    let mut field = file[part.at.clone()].to_vec();
    field[bit / 8 - part.at.start] ^= 1 << (bit % 8);
    match field.len() {
        1 => field[0].into(),
        4 => i32::from_le_bytes(field[..4].try_into().unwrap()).into(),
        8.. => i64_at(&field, 0),
        _ => 0,
    }
}

fn flip_all(golden: &Golden, tally: &mut Tally) {
    assert!(
        outcome(golden, &golden.file) == Outcome::Same,
        "{}",
        golden.name
    );
    let map = parts(&golden.file);
    let mut file = golden.file.clone();
    for part in &map {
        let member = Member::of(&golden.file, part.member, &map);
        // Without a checksum nothing is promised but that there is an end.
        let protected = member.version > 1 && member.checksum != 0;
        // Raw metadata without a seal has no digest of its own.
        let has_digest = protected && part.field != Field::RawMetadata;
        // Short fields in full: each of their bits may have a rule of its own.
        let one_in = if part.at.len() > 8 { 11 } else { 1 };
        for bit in effort::sample(part.at.start * 8..part.at.end * 8, one_in) {
            file[bit / 8] ^= 1 << (bit % 8);
            let begun = Instant::now();
            let result = catch_unwind(|| outcome(golden, &file));
            tally.slowest = tally.slowest.max(begun.elapsed());
            file[bit / 8] ^= 1 << (bit % 8);
            let place = format!(
                "{}: byte {} bit {}, {:?} of member {} (at {})",
                golden.name,
                bit / 8,
                bit % 8,
                part.field,
                part.member,
                member.start
            );
            let Ok(result) = result else {
                tally.complaints.push(format!("{place}: panic"));
                continue;
            };
            tally.flips += 1;
            let came = match result {
                Outcome::Error => tally::Came::Error,
                Outcome::Same => tally::Came::Same,
                Outcome::Wrong | Outcome::OtherMetadata => tally::Came::Wrong,
            };
            tally.table.add(&member.container(), came);
            if !has_digest && (!protected || result == Outcome::OtherMetadata) {
                continue;
            }
            let expected = harmless(&member, part.field, number(&golden.file, part, bit));
            let allowed = has_digest || result != Outcome::Same;
            if expected {
                *tally.harmless.entry(part.field).or_default() += 1;
            }
            if allowed
                && result
                    != if expected {
                        Outcome::Same
                    } else {
                        Outcome::Error
                    }
            {
                let complaint = format!("{place}: {result:?}, harmless: {expected}");
                tally.complaints.push(complaint);
            }
        }
    }
}

fn conclude(title: &str, files: usize, tally: &Tally) {
    println!(
        "{title}: {files} files, slowest flip {:?}; harmless by field: {:?}",
        tally.slowest, tally.harmless
    );
    tally.table.print("bits");
    for complaint in tally.complaints.iter().take(40) {
        println!("  {complaint}");
    }
    assert!(
        tally.complaints.is_empty(),
        "{} complaints",
        tally.complaints.len()
    );
    assert!(tally.slowest < HANG);
}

#[test]
fn no_flip_in_our_own_files_is_silent() {
    let mut tally = Tally::default();
    let goldens = goldens();
    for golden in &goldens {
        flip_all(golden, &mut tally);
    }
    conclude("own files", goldens.len(), &tally);
    assert!(tally.flips as usize > effort::cases(100_000, 30));
    // Each rule must apply to at least one field.
    for field in [
        Field::Typesize,
        Field::Version,
        Field::Options,
        Field::Checksum,
        Field::ChunkSize,
        Field::MaxApp,
        Field::SectionOptions,
        Field::SectionUserCodec,
        Field::SectionRoom,
        Field::SectionLevel,
    ] {
        assert!(tally.harmless.contains_key(&field), "{field:?}");
    }
}

#[test]
fn no_flip_in_files_of_the_reference_is_silent() {
    let wanted = [
        "b_adler32_off_nometa_1c.blp",
        "b_sha512_nooff_nometa_1c.blp",
        "d_meta_string.blp",
        "d_mck_md5_zlib.blp",
        "e_maxapp_1.blp",
        "f_zero_adler32_off_meta.blp",
        "h_zerodim_struct.blp",
        "i_tiny33_t8.blp",
        "v2_tiny1.blp",
        "v1_bcolz_i4_0.blp",
    ];
    let mut tally = Tally::default();
    let mut files = 0;
    for (name, file) in corpus(2200) {
        if wanted.contains(&name.as_str()) {
            let data = decode(&file).unwrap();
            flip_all(&Golden { name, file, data }, &mut tally);
            files += 1;
        }
    }
    conclude("files of the reference", files, &tally);
    assert!(files == 0 || files == wanted.len(), "only {files} files");
}
