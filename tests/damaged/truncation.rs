//! Tests that a file cut anywhere is reported as cut, after all whole chunks before the cut, and so is the file of a
//! writer that did not finish.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use bloscpack::{
    Category, Checksum, Decoder, Encoder, FormatVersion, Options, Warning, survey::Survey,
    verify::verify,
};
use std::cell::RefCell;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use testkit::effort;

use golden::{Field, Golden, Part, Random, Recipe, Trickle, concatenated, parts, sensor, u32_at};
use testkit::golden;

struct Decoded {
    data: Vec<u8>,
    warnings: Vec<Warning>,
    result: Result<(), bloscpack::Error>,
}

fn decode(builder: Options, reader: impl Read) -> Decoded {
    let mut decoder = Decoder::with_options(reader, builder);
    let mut data = Vec::new();
    let result = decoder.read_to_end(&mut data).map(|_| ());
    Decoded {
        data,
        warnings: decoder.warnings().to_vec(),
        result: result.map_err(bloscpack::Error::from),
    }
}

fn category(decoded: &Decoded) -> Option<Category> {
    decoded
        .result
        .as_ref()
        .err()
        .map(bloscpack::Error::category)
}

/// A file with a table, a stream with an end mark, and three members of which the middle one is a
/// stream.
fn files() -> [Golden; 3] {
    let file = Recipe {
        metadata: true,
        ..Recipe::new(Checksum::Crc32)
    }
    .golden("file with offsets and metadata");
    let stream = Recipe {
        seek: None,
        size_known: false,
        ..Recipe::new(Checksum::Adler32)
    }
    .golden("stream of unknown length");
    let sealed = Recipe {
        layout: FormatVersion::V2,
        metadata: true,
        len: 300,
        ..Recipe::new(Checksum::Md5)
    }
    .golden("");
    let three = concatenated("three members", &[&sealed, &stream, &file]);
    [file, stream, three]
}

/// The output that the first `cut` bytes may give.
struct Expected {
    /// Bytes of the whole chunks.
    data: usize,
    /// Whether a member ends here.
    border: bool,
    /// Whether only the writer's last word is missing.
    unended: bool,
}

fn expected(golden: &Golden, map: &[Part], cut: usize) -> Expected {
    let (mut data, mut pending) = (0, 0);
    for part in map.iter().filter(|part| part.at.end <= cut) {
        match part.field {
            Field::Chunk => pending = u32_at(&golden.file, part.at.start + 4) as usize,
            Field::Digest => data += std::mem::take(&mut pending),
            _ => {}
        }
    }
    let ends_here = |parts: &[Part]| parts.last().is_some_and(|part| part.at.end == cut);
    let border = map.chunk_by(|a, b| a.member == b.member).any(ends_here);
    // The streams here have no metadata: the chunks come after the 32 bytes of their header.
    let unended = map.chunk_by(|a, b| a.member == b.member).any(|member| {
        let (first, last) = (&member[0], &member[member.len() - 1]);
        last.field == Field::EndMark && (first.at.start + 32..last.at.end).contains(&cut)
    });
    Expected {
        data,
        border,
        unended,
    }
}

/// Every reader there is, over the same bytes.
fn check_readers(golden: &Golden, cut: usize, check: impl Fn(&str, Decoded)) {
    let input = &golden.file[..cut];
    for threads in [1, 4] {
        let builder = || Options::new().threads(threads);
        let place = |reader| format!("{}, {cut} bytes, {threads} threads, {reader}", golden.name);
        let trickle = |longest| Trickle {
            bytes: input,
            random: Random::new(cut as u64),
            longest,
        };
        check(&place("whole"), decode(builder(), input));
        check(&place("bytes"), decode(builder(), trickle(1)));
        check(&place("pieces"), decode(builder(), trickle(100)));
    }
}

#[test]
fn every_cut_is_told_and_all_before_it_is_delivered() {
    let mut cuts = 0;
    for golden in files() {
        let map = parts(&golden.file);
        let mut borders = 0_usize;
        for cut in 0..golden.file.len() {
            let expected = expected(&golden, &map, cut);
            borders += usize::from(expected.border);
            if !effort::is_whole() && !cut.is_multiple_of(5) {
                continue;
            }
            check_readers(&golden, cut, |place, decoded| {
                let told = (!expected.border).then_some(Category::CutShort);
                assert_eq!(category(&decoded), told, "{place}: {:?}", decoded.result);
                assert!(decoded.data == golden.data[..expected.data], "{place}");
                assert!(decoded.warnings.is_empty(), "{place}");
                let error = decoded.result.err();
                assert!(
                    error.is_none_or(|error| error.position().is_some()),
                    "{place}"
                );
            });
            let report = verify(&golden.file[..cut], &Options::new(), |_| Ok(())).unwrap();
            assert_eq!(report.is_sound(), expected.border);
            assert_eq!(report.bytes, expected.data as u64);
            cuts += 1;
        }
        let members = map[map.len() - 1].member;
        assert_eq!(borders, members, "{}", golden.name);
    }
    println!("{cuts} cuts, each through 6 readers and verify");
}

#[test]
fn only_what_was_not_ended_can_be_taken_as_it_is() {
    for golden in files() {
        let map = parts(&golden.file);
        for cut in 0..golden.file.len() {
            let expected = expected(&golden, &map, cut);
            let builder = Options::new().allow_unterminated(true);
            let decoded = decode(builder, &golden.file[..cut]);
            let place = format!("{}, {cut} bytes: {:?}", golden.name, decoded.result);
            let fine = expected.border || expected.unended;
            let told = (!fine).then_some(Category::CutShort);
            assert_eq!(category(&decoded), told, "{place}");
            assert!(decoded.data == golden.data[..expected.data], "{place}");
            let warned = matches!(decoded.warnings[..], [Warning::Unended(_)]);
            assert_eq!(warned, expected.unended && !expected.border, "{place}");
        }
    }
}

/// A target that outlives its encoder.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Cursor<Vec<u8>>>>);

impl Shared {
    fn content(&self) -> Vec<u8> {
        self.0.borrow().get_ref().clone()
    }
}

impl Read for Shared {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().read(buf)
    }
}

impl Write for Shared {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(buf)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.borrow_mut().seek(to)
    }
}

/// Either encoder as a [`Write`].
fn encoder(recipe: &Recipe, target: Shared) -> Box<dyn Write> {
    match recipe.seek {
        Some(_) => Box::new(recipe.builder().write_to_file(target).unwrap()),
        None => Box::new(recipe.builder().write_to(target).unwrap()),
    }
}

fn assert_cut_short(file: &[u8], data: &[u8], place: &str) {
    let decoded = decode(Options::new(), file);
    assert_eq!(
        category(&decoded),
        Some(Category::CutShort),
        "{place}: {:?}",
        decoded.result
    );
    assert!(data.starts_with(&decoded.data), "{place}");
    assert!(
        !verify(file, &Options::new(), |_| Ok(()))
            .unwrap()
            .is_sound(),
        "{place}"
    );
    // A stream without only its end mark can be read on request.
    let error = decoded.result.unwrap_err();
    let asked = decode(Options::new().allow_unterminated(true), file);
    assert_eq!(asked.result.is_ok(), error.is_unended(), "{place}: {error}");
    assert!(data.starts_with(&asked.data), "{place}");
    if error.is_unended() {
        assert_eq!(asked.warnings.len(), 1, "{place}");
        let survey = Survey::of(file, &Options::new()).unwrap();
        let state = survey.members[0].state.name();
        assert!(
            ["unfinished", "unterminated"].contains(&state),
            "{place}: {state}"
        );
    }
}

/// The recipes of every kind of encoder that there is.
fn encoders(len: usize, chunk_size: u32) -> Vec<Recipe> {
    let mut all = Vec::new();
    for layout in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        for seek in [None, Some(false), Some(true)] {
            for size_known in [true, false] {
                if layout == FormatVersion::V1
                    && (seek == Some(true) || (seek.is_none() && !size_known))
                {
                    // V1 knows no offsets, and begins with the number of chunks.
                    continue;
                }
                all.push(Recipe {
                    layout,
                    chunk_size,
                    len,
                    seek,
                    metadata: layout != FormatVersion::V1,
                    size_known,
                    ..Recipe::new(Checksum::Crc32)
                });
            }
        }
    }
    all
}

#[test]
fn what_a_dropped_encoder_leaves_is_cut_short() {
    let mut dropped = 0;
    // With a last chunk that is full, and with one that is not.
    for recipe in [encoders(300, 64), encoders(256, 64)].concat() {
        let data = recipe.data();
        for amount in effort::sample(0..=recipe.len, 5) {
            for flush in [false, true] {
                let target = Shared::default();
                let mut encoder = encoder(&recipe, target.clone());
                encoder.write_all(&data[..amount]).unwrap();
                if flush {
                    encoder.flush().unwrap();
                }
                drop(encoder);
                let place = format!(
                    "{}, seek {:?}, size known: {}, {amount} bytes, flushed: {flush}",
                    recipe.layout, recipe.seek, recipe.size_known
                );
                assert_cut_short(&target.content(), &data, &place);
                dropped += 1;
            }
        }
    }
    println!("{dropped} encoders dropped");
}

#[test]
fn an_empty_encoder_that_is_dropped_leaves_a_cut_file() {
    for recipe in encoders(0, 64) {
        let target = Shared::default();
        drop(encoder(&recipe, target.clone()));
        let place = format!("{}, seek {:?}", recipe.layout, recipe.seek);
        assert_cut_short(&target.content(), &[], &place);
    }
}

/// More than an encoder holds back before it begins to write.
#[test]
fn what_a_dropped_encoder_leaves_of_much_data_is_cut_short() {
    let noise: Vec<u8> = {
        let mut random = Random::new(5);
        (0..90_000)
            .flat_map(|_| random.next().to_le_bytes())
            .collect()
    };
    for recipe in encoders(noise.len(), 1 << 10) {
        for amount in [200_000, 262_144, 300_001, 500_000, 720_000] {
            let target = Shared::default();
            let mut encoder = encoder(&recipe, target.clone());
            encoder.write_all(&noise[..amount]).unwrap();
            encoder.flush().unwrap();
            drop(encoder);
            let file = target.content();
            let place = format!(
                "{}, seek {:?}, size known: {}, {amount} bytes",
                recipe.layout, recipe.seek, recipe.size_known
            );
            assert!(file.len() > amount / 2 || amount < 262_144, "{place}");
            assert_cut_short(&file, &noise, &place);
        }
    }
}

#[test]
fn a_broken_promise_of_length_is_an_error_and_leaves_a_cut_file() {
    let data = sensor(300, 1);
    for seek in [false, true] {
        for given in [0, 63, 64, 65, 299] {
            let target = Shared::default();
            let builder = Encoder::builder().size(300).chunk_size(64);
            let result = if seek {
                let mut encoder = builder.write_to_file(target.clone()).unwrap();
                encoder.write_all(&data[..given]).unwrap();
                encoder.finish().map(|_| ())
            } else {
                let mut encoder = builder.write_to(target.clone()).unwrap();
                encoder.write_all(&data[..given]).unwrap();
                encoder.finish().map(|_| ())
            };
            assert_eq!(result.unwrap_err().category(), Category::Failed);
            assert_cut_short(
                &target.content(),
                &data,
                &format!("seek {seek}, {given} bytes"),
            );
        }
    }
}

/// Offsets of -1 are not an error if every counted chunk is there.
#[test]
fn a_file_that_only_lacks_its_offsets_is_complete() {
    let golden = Recipe::new(Checksum::Sha1).golden("");
    let map = parts(&golden.file);
    let mut file = golden.file.clone();
    for part in map.iter().filter(|part| part.field == Field::Offset) {
        file[part.at.clone()].fill(0xff);
    }
    let decoded = decode(Options::new(), file.as_slice());
    assert!(decoded.result.is_ok() && decoded.data == golden.data);
    // But without its last chunk it is unfinished, wherever it ends.
    for cut in 32..file.len() {
        let decoded = decode(Options::new(), &file[..cut]);
        assert_eq!(category(&decoded), Some(Category::CutShort), "{cut}");
    }
}

/// Only the header is there; the file is reported as cut, not as empty.
#[test]
fn the_header_of_a_file_cut_in_its_open_table_can_be_read() {
    let target = Shared::default();
    let builder = Encoder::builder().chunk_size(100_000).level(0);
    let mut encoder = builder.write_to_file(target.clone()).unwrap();
    encoder
        .write_all(&[7; 400_000])
        .and_then(|()| encoder.flush())
        .unwrap();
    drop(encoder);
    let file = target.content();
    let builder = || Options::new().allow_unterminated(true);
    for cut in [32, 40, 44, 4000] {
        let mut decoder = Decoder::with_options(&file[..cut], builder());
        assert!(decoder.read_header().unwrap().offsets, "{cut}");
        let decoded = decode(builder(), &file[..cut]);
        assert!(
            decoded.result.is_ok() && decoded.warnings.len() == 1,
            "{cut}"
        );
    }
}

/// Taking the first as it is must not lose the second without an error.
#[test]
fn a_member_behind_one_without_an_end_is_not_lost_in_silence() {
    let mut encoder = Encoder::builder()
        .chunk_size(10)
        .write_to(Vec::new())
        .unwrap();
    encoder.write_all(&[7; 20]).unwrap();
    let mut file = encoder.finish().unwrap();
    file.truncate(file.len() - 20);
    file.extend(bloscpack::compress(b"second").unwrap());
    let decoded = decode(Options::new().allow_unterminated(true), file.as_slice());
    assert_eq!(category(&decoded), Some(Category::CutShort));
    assert_eq!(decoded.data, [7; 20]);
}
