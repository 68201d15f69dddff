//! Tests that decoding returns the original data for all options, threads, pieces and targets, and that the same data
//! and options give the same bytes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(clippy::cast_possible_truncation, reason = "lengths here are small")]

use bloscpack::{
    Checksum, Compressor, Decoder, Encoder, EncoderBuilder, Filter, FormatVersion, Limits,
    Metadata, Options, decompress, survey::Survey, verify::verify,
};
use proptest::prelude::*;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};

use testkit::counting;
use testkit::damages::damages;

use golden::{ByHand, Random, Recipe, Trickle, sensor};
use testkit::golden;

#[derive(Clone, Debug)]
struct Case {
    compressor: Compressor,
    level: u8,
    filter: Filter,
    typesize: u8,
    chunk_size: u32,
    checksum: Checksum,
    layout: FormatVersion,
    offsets: bool,
    spare: Option<u64>,
    metadata: Option<String>,
    size_known: bool,
    target: Target,
    threads: usize,
    piece: usize,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Pipe,
    File,
    /// Seeks, but cannot be read.
    Seek,
}

impl Case {
    fn builder(&self) -> EncoderBuilder {
        let mut builder = Encoder::builder()
            .compressor(self.compressor)
            .level(self.level)
            .filter(self.filter)
            .typesize(self.typesize)
            .chunk_size(self.chunk_size)
            .version(self.layout)
            .offsets(self.offsets);
        if self.layout != FormatVersion::V1 {
            builder = builder.checksum(self.checksum);
            if let Some(text) = &self.metadata {
                builder = builder.metadata(Metadata::from_json(text.as_str()).unwrap());
            }
        }
        if let Some(spare) = self.spare {
            builder = builder.max_app_chunks(spare);
        }
        if self.knows_size() {
            builder = builder.size(self.data.len() as u64);
        }
        builder
    }

    /// Whether the length is declared, as it must be for V1 in a pipe and for targets that cannot be read.
    fn knows_size(&self) -> bool {
        let must = match self.target {
            Target::Pipe => self.layout == FormatVersion::V1,
            Target::Seek => self.offsets,
            Target::File => false,
        };
        self.size_known || must
    }

    fn encode(&self, threads: usize, piece: usize) -> Vec<u8> {
        let builder = self.builder().threads(threads);
        match self.target {
            Target::Pipe => {
                let mut encoder = builder.write_to(Vec::new()).unwrap();
                write_pieces(&mut encoder, &self.data, piece);
                assert_eq!(encoder.total_in(), self.data.len() as u64);
                encoder.finish().unwrap()
            }
            Target::File => {
                let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
                write_pieces(&mut encoder, &self.data, piece);
                encoder.finish().unwrap().into_inner()
            }
            Target::Seek => {
                let target = WriteOnly(Cursor::new(Vec::new()));
                let mut encoder = builder.write_to_seek(target).unwrap();
                write_pieces(&mut encoder, &self.data, piece);
                encoder.finish().unwrap().0.into_inner()
            }
        }
    }
}

fn write_pieces(encoder: &mut impl Write, data: &[u8], piece: usize) {
    data.chunks(piece)
        .for_each(|piece| encoder.write_all(piece).unwrap());
}

struct WriteOnly(Cursor<Vec<u8>>);

impl Write for WriteOnly {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for WriteOnly {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let how = (
        prop::sample::select(Compressor::ALL.to_vec()),
        0..=9_u8,
        prop::sample::select(Filter::ALL.to_vec()),
        prop_oneof![1..=32_u8, Just(255)],
        prop_oneof![1..=40_u32, 41..=5000_u32, Just(1 << 20)],
        prop::sample::select(Checksum::ALL.to_vec()),
        prop::sample::select(vec![
            FormatVersion::V1,
            FormatVersion::V2,
            FormatVersion::V3,
            FormatVersion::V3,
        ]),
    );
    let what = (
        any::<bool>(),
        prop::option::of(0..100_u64),
        prop::option::of(prop::sample::select(vec![
            golden::JSON.to_owned(),
            golden::long_json(),
            "0".to_owned(),
        ])),
        any::<bool>(),
        prop::sample::select(vec![Target::Pipe, Target::File, Target::Seek]),
        1..=4_usize,
        prop_oneof![1..=7_usize, 8..=4000_usize],
        data(),
    );
    (how, what).prop_map(|(how, what)| {
        let (compressor, level, filter, typesize, chunk_size, checksum, layout) = how;
        let (offsets, spare, metadata, size_known, target, threads, piece, data) = what;
        // Thousands of chunks of one byte each take long and show nothing new.
        let chunk_size = chunk_size.max(data.len() as u32 / 300);
        Case {
            compressor,
            level,
            filter,
            typesize,
            chunk_size,
            checksum,
            layout,
            offsets,
            spare,
            metadata,
            size_known,
            target,
            threads,
            piece,
            data,
        }
    })
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![0..=20_usize, 0..=9000_usize];
    prop_oneof![
        (len.clone(), any::<u64>()).prop_map(|(len, seed)| sensor(len, seed)),
        (len.clone(), any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
        len.prop_flat_map(|len| prop::collection::vec(any::<u8>(), len)),
    ]
}

/// Checks the header and the table of the file against the options.
fn check_survey(case: &Case, file: &[u8]) {
    let survey = Survey::of(file, &Options::new()).unwrap();
    assert_eq!((survey.members.len(), survey.len), (1, file.len() as u64));
    let member = &survey.members[0];
    let header = &member.header;
    let seeks = case.target != Target::Pipe;
    let known = seeks || case.knows_size();
    let v1 = case.layout == FormatVersion::V1;
    assert_eq!(header.version, case.layout);
    assert_eq!(header.nchunks, known.then_some(member.chunks));
    assert_eq!(header.offsets, case.offsets && seeks && !v1);
    let text = member.metadata.as_ref().map(Metadata::text);
    assert_eq!(text, case.metadata.as_deref().filter(|_| !v1));
    if known && !v1 {
        assert_eq!(header.content_len(), Some(case.data.len() as u64));
    }
    for number in 0..member.chunks {
        assert_eq!(member.offsets.get(number).is_some(), header.offsets);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testkit::effort::models(3000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_options_what_goes_in_comes_out(case in cases(), readers in 1..=4_usize) {
        let file = case.encode(1, usize::MAX);
        prop_assert!(case.encode(case.threads, case.piece) == file, "other bytes");
        check_survey(&case, &file);
        let mut back = Vec::new();
        let mut decoder = Decoder::with_options(file.as_slice(), Options::new().threads(readers));
        decoder.read_to_end(&mut back).unwrap();
        prop_assert!(back == case.data);
        prop_assert!(decoder.warnings().is_empty());
        back.clear();
        let input = Trickle { bytes: &file, random: Random::new(1), longest: 50 };
        Decoder::new(input).read_to_end(&mut back).unwrap();
        prop_assert!(back == case.data);
    }

    #[test]
    fn members_come_out_one_after_another(cases in prop::collection::vec(cases(), 2..5)) {
        let mut file = Vec::new();
        let mut data = Vec::new();
        for case in &cases {
            // Bytes after a member are only recognized as another one if it has a header.
            file.extend(case.encode(1, usize::MAX));
            data.extend_from_slice(&case.data);
        }
        prop_assert!(decompress(&file).unwrap() == data);
    }

    #[test]
    fn a_range_is_what_it_would_be_of_the_whole(case in cases(), from in 0..9000_u64, len in 0..9000_u64) {
        let file = case.encode(1, usize::MAX);
        let mut part = Vec::new();
        let decoder = Options::new().range(from..from + len);
        Decoder::with_options(file.as_slice(), decoder).read_to_end(&mut part).unwrap();
        let all = case.data.len() as u64;
        let (start, end) = (from.min(all) as usize, (from + len).min(all) as usize);
        prop_assert!(part == case.data[start..end]);
    }
}

#[test]
fn a_member_may_begin_anywhere_in_a_target() {
    let data = sensor(3000, 8);
    for size_known in [true, false] {
        let mut target = Cursor::new(b"what stood here before".to_vec());
        target.seek(SeekFrom::End(0)).unwrap();
        let start = target.position() as usize;
        for _ in 0..2 {
            let mut builder = Encoder::builder().chunk_size(500);
            if size_known {
                builder = builder.size(data.len() as u64);
            }
            let mut encoder = builder.write_to_file(target).unwrap();
            encoder.write_all(&data).unwrap();
            target = encoder.finish().unwrap();
        }
        let file = target.into_inner();
        assert!(decompress(&file[start..]).unwrap() == data.repeat(2));
    }
}

/// Takes one byte a call and is interrupted at every other.
struct Stubborn<W> {
    inner: W,
    calls: u64,
}

impl<W> Stubborn<W> {
    fn new(inner: W) -> Self {
        Self { inner, calls: 0 }
    }

    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        if self.calls.is_multiple_of(2) {
            return Err(ErrorKind::Interrupted.into());
        }
        Ok(())
    }
}

impl<W: Write> Write for Stubborn<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.call()?;
        self.inner.write(&data[..data.len().min(1)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Stubborn<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.call()?;
        let len = buf.len().min(1);
        self.inner.read(&mut buf[..len])
    }
}

impl<S: Seek> Seek for Stubborn<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Recipes over all layouts and targets, small enough to try every call on.
fn recipes() -> Vec<Recipe> {
    let mut all = Vec::new();
    for layout in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        for seek in [None, Some(false), Some(true)] {
            for size_known in [true, false] {
                if layout != FormatVersion::V1 || (size_known && seek != Some(true)) {
                    all.push(Recipe {
                        layout,
                        seek,
                        size_known,
                        metadata: layout != FormatVersion::V1,
                        ..Recipe::new(Checksum::Sha256)
                    });
                }
            }
        }
    }
    all
}

#[test]
fn targets_that_take_a_byte_a_call_and_are_interrupted_get_the_same_bytes() {
    for recipe in recipes() {
        let (file, data) = (recipe.make(), recipe.data());
        let made = if recipe.seek.is_some() {
            let target = Stubborn::new(Cursor::new(Vec::new()));
            let mut encoder = recipe.builder().write_to_file(target).unwrap();
            encoder.write_all(&data).unwrap();
            encoder.finish().unwrap().inner.into_inner()
        } else {
            let target = Stubborn::new(Vec::new());
            let mut encoder = recipe.builder().write_to(target).unwrap();
            encoder.write_all(&data).unwrap();
            encoder.finish().unwrap().inner
        };
        assert!(made == file, "{}, {:?}", recipe.layout, recipe.seek);
        let mut back = Vec::new();
        // `read_to_end` would try again by itself.
        let mut decoder = Decoder::new(Stubborn::new(file.as_slice()));
        decoder.copy_to(&mut back).unwrap();
        let limits = Limits::default();
        assert!(
            verify(
                Stubborn::new(file.as_slice()),
                &Options::new().limits(limits),
                |_| Ok(())
            )
            .unwrap()
            .is_sound()
        );
        Survey::of(
            Stubborn::new(file.as_slice()),
            &Options::new().limits(limits),
        )
        .unwrap();
        assert!(back == data);
        let mut encoder = recipe
            .builder()
            .size(data.len() as u64)
            .write_to(Vec::new())
            .unwrap();
        let read = encoder.read_from(Stubborn::new(data.as_slice())).unwrap();
        assert_eq!(read, data.len() as u64);
        assert!(decompress(&encoder.finish().unwrap()).unwrap() == data);
    }
}

/// Fails at one call or, with `for_good`, at all later ones, too.
struct Failing<'a> {
    target: &'a mut Cursor<Vec<u8>>,
    calls: &'a mut u32,
    fails_at: u32,
    for_good: bool,
}

impl Failing<'_> {
    fn call(&mut self) -> io::Result<()> {
        *self.calls += 1;
        let fails = if self.for_good {
            *self.calls >= self.fails_at
        } else {
            *self.calls == self.fails_at
        };
        if fails {
            Err(io::Error::from_raw_os_error(28))
        } else {
            Ok(())
        }
    }
}

impl Write for Failing<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.call()?;
        self.target.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call()
    }
}

impl Read for Failing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.call()?;
        self.target.read(buf)
    }
}

impl Seek for Failing<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.call()?;
        self.target.seek(to)
    }
}

/// Writes all and finishes, stubbornly: after an error, it continues as a careless caller would.
fn write_carelessly(
    recipe: &Recipe,
    data: &[u8],
    target: Failing<'_>,
) -> (bool, bloscpack::Result<()>) {
    let mut failed = false;
    macro_rules! run {
        ($encoder:expr) => {
            match $encoder {
                Err(error) => (true, Err(error)),
                Ok(mut encoder) => {
                    for piece in data.chunks(100) {
                        failed |= encoder.write_all(piece).is_err();
                    }
                    failed |= encoder.flush().is_err();
                    (failed, encoder.finish().map(|_| ()))
                }
            }
        };
    }
    match recipe.seek {
        Some(_) => run!(recipe.builder().write_to_file(target)),
        None => run!(recipe.builder().write_to(target)),
    }
}

#[test]
fn a_target_that_fails_at_any_call_leaves_no_success() {
    let mut failures = 0;
    for recipe in recipes() {
        let data = recipe.data();
        for for_good in [true, false] {
            for fails_at in 1.. {
                let (mut target, mut calls) = (Cursor::new(Vec::new()), 0);
                let failing = Failing {
                    target: &mut target,
                    calls: &mut calls,
                    fails_at,
                    for_good,
                };
                let (failed, result) = write_carelessly(&recipe, &data, failing);
                let place = format!(
                    "{}, seek {:?}, size known: {}, call {fails_at}, for good: {for_good}",
                    recipe.layout, recipe.seek, recipe.size_known
                );
                let file = target.into_inner();
                if calls < fails_at {
                    assert!(!failed && result.is_ok(), "{place}: {result:?}");
                    assert!(file == recipe.make(), "{place}");
                    break;
                }
                failures += 1;
                // A flush that failed once and that `finish` made up for is not a failure.
                let flushed = !for_good && failed && result.is_ok();
                assert!(result.is_err() || flushed, "{place}");
                // The remaining file is refused, or complete.
                if let Ok(back) = decompress(&file) {
                    assert!(back == data, "{place}: {} bytes", back.len());
                }
                if result.is_ok() {
                    assert!(file == recipe.make(), "{place}");
                }
            }
        }
    }
    println!("{failures} failures");
    assert!(failures > 200);
}

#[test]
fn errors_of_the_reader_are_told_and_can_be_tried_again() {
    struct Once<'a>(&'a [u8], usize);
    impl Read for Once<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.1 == 0 {
                self.1 = usize::MAX;
                return Err(io::Error::from_raw_os_error(5));
            }
            let len = buf.len().min(self.1).min(self.0.len()).min(97);
            self.1 -= len;
            buf[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }
    let golden = Recipe::new(Checksum::Crc32).golden("");
    for threads in [1, 3] {
        for fails_at in 0..golden.file.len() {
            let input = Once(&golden.file, fails_at);
            let mut decoder = Decoder::with_options(input, Options::new().threads(threads));
            let mut back = Vec::new();
            let error = decoder.read_to_end(&mut back).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(5));
            decoder.read_to_end(&mut back).unwrap();
            assert!(back == golden.data, "{fails_at}");
        }
    }
}

#[test]
fn spare_space_behind_chunks_is_passed_over() {
    for room in [1, 3, 4, 15, 16, 17, 100, 300_000] {
        for checksum in [Checksum::Crc32, Checksum::None] {
            for sealed in [true, false] {
                let pieces = sensor(1000, 2).chunks(256).map(<[u8]>::to_vec).collect();
                let by_hand = ByHand {
                    room,
                    sealed,
                    ..ByHand::v2(checksum, pieces)
                };
                let file = by_hand.make();
                assert!(decompress(&file).unwrap() == by_hand.data(), "{room}");
                let two = [file.as_slice(), &file].concat();
                assert!(
                    decompress(&two).unwrap() == by_hand.data().repeat(2),
                    "{room}"
                );
            }
        }
    }
}

#[test]
fn a_table_of_unknown_length_grows_as_often_as_it_must() {
    let chunks = 9000;
    let noise: Vec<u8> = {
        let mut random = Random::new(3);
        (0..chunks * 5)
            .flat_map(|_| random.next().to_le_bytes())
            .collect()
    };
    for layout in [FormatVersion::V3, FormatVersion::V2] {
        for spare in [None, Some(0), Some(17)] {
            for threads in [1, 3] {
                let mut builder = Encoder::builder()
                    .version(layout)
                    .chunk_size(40)
                    .threads(threads);
                if let Some(spare) = spare {
                    builder = builder.max_app_chunks(spare);
                }
                let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
                write_pieces(&mut encoder, &noise, 10_007);
                let file = encoder.finish().unwrap().into_inner();
                assert!(decompress(&file).unwrap() == noise);
                let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
                let member = &survey.members[0];
                assert_eq!(
                    (member.chunks, member.header.nchunks),
                    (chunks, Some(chunks))
                );
                assert!(member.offsets.get(chunks - 1).is_some());
                let least = match (layout, spare) {
                    (FormatVersion::V3, Some(spare)) => spare,
                    // The room that was not used.
                    _ => 0,
                };
                let found = member.header.max_app_chunks;
                assert!(found >= least, "{layout}, {spare:?}: {found}");
                assert!(layout == FormatVersion::V3 || found == 0);
            }
        }
    }
}

/// A chunk of 160 MiB comes in pieces: memory contains the compressed chunk and a piece of a few blocks, not the
/// whole chunk.
#[test]
fn a_giant_chunk_comes_in_pieces() {
    const LEN: u32 = 160 << 20;
    let sensor = sensor(4096, 6);
    let data = || {
        io::repeat(7)
            .take((LEN - 4096).into())
            .chain(sensor.as_slice())
    };
    let mut encoder = Encoder::builder()
        .compressor(Compressor::Lz4)
        .chunk_size(LEN)
        .size(LEN.into())
        .checksum(Checksum::Crc32)
        .write_to(Vec::new())
        .unwrap();
    encoder.read_from(data()).unwrap();
    let file = encoder.finish().unwrap();
    assert!(file.len() < 4 << 20);
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    assert_eq!(survey.members[0].chunks, 1);

    let mut expected = data();
    let (total, peak) = counting::peak_of(|| {
        let mut decoder = Decoder::new(file.as_slice());
        let (mut total, mut piece, mut same) = (0, vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            let len = decoder.read(&mut piece).unwrap();
            if len == 0 {
                return total;
            }
            expected.read_exact(&mut same[..len]).unwrap();
            assert!(piece[..len] == same[..len], "at {total}");
            total += len;
        }
    });
    println!("{} bytes of file, {peak} bytes of memory", file.len());
    assert_eq!(total, LEN as usize);
    assert!(peak < 16 << 20, "{peak} bytes of memory");

    let mut part = Vec::new();
    let from = u64::from(LEN) - 5000;
    let decoder = Options::new().range(from..from + 4900);
    Decoder::with_options(file.as_slice(), decoder)
        .read_to_end(&mut part)
        .unwrap();
    assert!(part == [[7; 904].as_slice(), &sensor[..3996]].concat());

    let mut damaged = file;
    let at = damaged.len() / 2;
    damaged[at] ^= 1;
    let mut nothing = Vec::new();
    assert!(
        Decoder::new(damaged.as_slice())
            .read_to_end(&mut nothing)
            .is_err()
    );
    assert!(nothing.is_empty(), "the digest comes before the data");
}

/// Without a digest, damage within a giant only shows when it is reached: the data before it is counted, and the rest
/// of the chunk is lost.
#[test]
fn what_a_damaged_giant_has_lost_is_what_is_left_of_it() {
    const LEN: u32 = 66 << 20;
    let mut encoder = Encoder::builder()
        .chunk_size(LEN)
        .size(u64::from(LEN) + 1)
        .checksum(Checksum::None)
        .write_to(Vec::new())
        .unwrap();
    encoder
        .read_from(io::repeat(7).take(u64::from(LEN) + 1))
        .unwrap();
    let mut file = encoder.finish().unwrap();
    let chunk = bloscpack::blosc::ChunkHeader::parse(file[32..48].try_into().unwrap()).unwrap();
    let slot = 48 + 4 * (chunk.nblocks() as usize - 1);
    file[slot..slot + 4].fill(0x7f);

    let found = damages(|take| verify(file.as_slice(), &Options::new(), take));
    let (report, found) = found.unwrap();
    let [damage] = found.as_slice() else {
        panic!("{found:?}");
    };
    let lost = damage.content.clone().unwrap();
    assert!((1..u64::from(LEN)).contains(&lost.start) && lost.end == u64::from(LEN));
    assert_eq!((report.chunks, report.bytes), (2, lost.start + 1));
}

/// A reader that must not be asked for more than it has.
struct NoMore<'a>(&'a [u8]);

impl Read for NoMore<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("read behind what is wanted"));
        }
        self.0.read(buf)
    }
}

#[test]
fn what_lies_behind_a_range_is_not_read() {
    let data = sensor(300, 1);
    let mut encoder = Encoder::builder()
        .chunk_size(100)
        .level(0)
        .write_to(Vec::new())
        .unwrap();
    encoder.write_all(&data).unwrap();
    let stream = encoder.finish().unwrap();
    let ends = [32, 32 + 120, 32 + 240, 32 + 360];
    for (from, to, chunks) in [
        (0, 0, 0),
        (0, 100, 1),
        (20, 80, 1),
        (99, 200, 2),
        (0, 300, 3),
    ] {
        for threads in [1, 3] {
            let builder = Options::new().threads(threads).range(from..to);
            let mut decoder = Decoder::with_options(NoMore(&stream[..ends[chunks]]), builder);
            let mut part = Vec::new();
            decoder.read_to_end(&mut part).unwrap();
            assert!(part == data[from as usize..to as usize], "{from}..{to}");
        }
    }
}

/// Panics at the chunk that begins with 9s.
struct Planted;

impl bloscpack::wire::Hasher for Planted {
    fn update(&mut self, bytes: &[u8]) {
        assert!(bytes.get(16) != Some(&9), "planted");
    }

    fn finish(&mut self) -> bloscpack::wire::Digest {
        bloscpack::wire::Digest::from_u32(0)
    }
}

/// Otherwise a caller that continues after an error would get the data without the chunk.
#[test]
fn a_chunk_lost_in_a_panic_is_not_passed_over() {
    let planted = bloscpack::wire::Hashers::default().with(Checksum::Crc32, || Box::new(Planted));
    let is_panic = |error: io::Error| {
        let error = bloscpack::Error::from(error);
        error.code() == bloscpack::Code::Panicked
    };
    for threads in [1, 3] {
        let options = || Encoder::builder().chunk_size(10).level(0).threads(threads);
        let mut encoder = options()
            .hashers(planted.clone())
            .write_to(Vec::new())
            .unwrap();
        encoder.write_all(&[9; 10]).unwrap();
        assert!(is_panic(encoder.flush().unwrap_err()));
        assert!(encoder.write_all(&[1; 10]).is_err());
        assert!(encoder.finish().is_err());

        let good = bloscpack::wire::Hashers::default().with(Checksum::Crc32, || Box::new(Zero));
        let mut encoder = options().hashers(good).write_to(Vec::new()).unwrap();
        for byte in [1, 9, 1, 1] {
            encoder.write_all(&[byte; 10]).unwrap();
        }
        let stream = encoder.finish().unwrap();
        let builder = Options::new().threads(threads).hashers(planted.clone());
        let (mut decoder, mut data) = (
            Decoder::with_options(stream.as_slice(), builder),
            Vec::new(),
        );
        for _ in 0..2 {
            assert!(is_panic(decoder.read_to_end(&mut data).unwrap_err()));
        }
        assert_eq!(data, [1; 10]);
    }
}

struct Zero;

impl bloscpack::wire::Hasher for Zero {
    fn update(&mut self, _: &[u8]) {}

    fn finish(&mut self) -> bloscpack::wire::Digest {
        bloscpack::wire::Digest::from_u32(0)
    }
}

/// A target that says only at the end that nothing has arrived.
struct Forgetful(Cursor<Vec<u8>>);

impl Read for Forgetful {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf)
    }
}

impl Write for Forgetful {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::Error::other("it did not arrive"))
    }
}

impl Seek for Forgetful {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn what_a_target_tells_only_when_it_is_flushed_is_told() {
    let target = Forgetful(Cursor::new(Vec::new()));
    let mut encoder = Encoder::builder().write_to_file(target).unwrap();
    encoder.write_all(&[7; 5000]).unwrap();
    assert!(encoder.finish().is_err(), "a file");
    let mut encoder = Encoder::builder()
        .write_to(Forgetful(Cursor::new(Vec::new())))
        .unwrap();
    encoder.write_all(&[7; 5000]).unwrap();
    assert!(encoder.finish().is_err(), "a stream");
}
