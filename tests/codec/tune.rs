//! Tests of settings chosen by a sample of the data.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use testkit::oracle;

use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use bloscpack::blosc::{Aim, ChunkEncoder, ChunkSettings, Tuned, Tuner};
use bloscpack::{
    Compressor, Decoder, Encoder, Filter, Options, decompress, indexed::IndexedReader,
};
use oracle::{Kind, Random};

const LEN: usize = 1 << 20;

fn data(kind: Kind, len: usize) -> Vec<u8> {
    kind.data(&mut Random::new(7), len)
}

fn tuned(aim: Aim, data: &[u8]) -> Tuned {
    Tuner::new(aim).tune(data).unwrap()
}

#[test]
fn names_of_aims_are_read_back() {
    for aim in Aim::ALL {
        assert_eq!(aim.name().parse(), Ok(aim));
        assert_eq!(format!("{aim:>8}"), format!("{:>8}", aim.name()));
    }
    let error = "Speed".parse::<Aim>().unwrap_err();
    assert!(error.to_string().contains("\"Speed\""), "{error}");
}

#[test]
fn the_same_sample_gives_the_same_choice() {
    for kind in Kind::ALL {
        let data = data(kind, LEN / 4);
        for aim in [Aim::Speed, Aim::Balance] {
            assert_eq!(tuned(aim, &data), tuned(aim, &data), "{kind:?}");
        }
    }
}

#[test]
fn the_size_of_the_elements_is_found() {
    for kind in [Kind::Walk, Kind::Ramp, Kind::Sensor, Kind::Text] {
        for aim in [Aim::Speed, Aim::Balance] {
            let tuned = tuned(aim, &data(kind, LEN));
            assert_eq!(tuned.settings().typesize, kind.typesize(), "{kind:?} {aim}");
        }
    }
    // Three bytes a pixel, each colour with its own slow change.
    let mut random = Random::new(3);
    let mut pixels = Vec::new();
    for n in 0..100_000 {
        for colour in [n / 500, 200 - n / 900, 90 + n / 2000 % 7] {
            pixels.push(u8::try_from(colour + random.below(4)).unwrap());
        }
    }
    assert_eq!(tuned(Aim::Balance, &pixels).settings().typesize, 3);
}

/// Arrays that Bloscpack packed; their manifest or their metadata has the size of the elements.
#[test]
fn the_size_of_the_elements_of_real_arrays_is_found() {
    let folder = testkit::testdata("bloscpack");
    for (file, typesize) in [
        ("k_zstd_byte_f64.blp", 8),
        ("a2_zlib_byte_t8_1m.blp", 8),
        ("cli_half.blp", 8),
        ("b_crc32_nooff_meta_1c.blp", 4),
        ("old_v071_zlib_noshuf.blp", 4),
    ] {
        let file = folder.join(file);
        let content = decompress(&std::fs::read(&file).unwrap()).unwrap();
        for aim in [Aim::Speed, Aim::Balance] {
            let tuned = tuned(aim, &content);
            assert_eq!(tuned.settings().typesize, typesize, "{}", file.display());
        }
    }
}

#[test]
fn a_trial_tells_the_size_that_a_chunk_gets() {
    for kind in Kind::ALL {
        let data = data(kind, LEN);
        let tuned = tuned(Aim::Balance, &data);
        for trial in tuned.trials() {
            let mut chunk = Vec::new();
            let mut encoder = ChunkEncoder::new(*trial.settings()).unwrap();
            encoder.encode(&data, &mut chunk).unwrap();
            let ratio = data.len() as f64 / chunk.len() as f64;
            let apart = trial.ratio() / ratio;
            assert!((0.95..1.1).contains(&apart), "{kind:?} {trial:?}: {ratio}");
        }
    }
}

#[test]
fn the_choice_is_the_least_by_its_aim() {
    for kind in Kind::ALL {
        let data = data(kind, LEN / 4);
        for aim in Aim::ALL {
            let tuned = tuned(aim, &data);
            let score = tuned.best().score(aim);
            let others = tuned.trials().iter().map(|trial| trial.score(aim));
            let least = others.fold(f64::MAX, f64::min);
            // For size, a hundredth counts as equal.
            assert!(score <= least * 1.011, "{kind:?} {aim}: {tuned}");
        }
    }
}

#[test]
fn aims_differ_as_they_should() {
    let text = data(Kind::Text, LEN);
    let [speed, balance, size] = Aim::ALL.map(|aim| *tuned(aim, &text).best());
    assert!(speed.encode_speed() >= balance.encode_speed());
    assert!(balance.encode_speed() > size.encode_speed());
    assert!(speed.ratio() <= balance.ratio());
    assert!(balance.ratio() < size.ratio());
}

#[test]
fn noise_gets_what_is_fast() {
    let noise = data(Kind::Noise, LEN);
    for aim in [Aim::Speed, Aim::Balance] {
        let tuned = tuned(aim, &noise);
        assert_eq!(tuned.settings().filter, Filter::None, "{tuned}");
        assert!((0.999..=1.0).contains(&tuned.best().ratio()), "{tuned}");
        assert!(tuned.best().encode_speed() > 5000.0, "{tuned}");
    }
}

#[test]
fn little_or_nothing_gets_the_default() {
    for len in [0, 1, 127] {
        for aim in Aim::ALL {
            let tuned = tuned(aim, &data(Kind::Ramp, len));
            assert_eq!(*tuned.settings(), ChunkSettings::default());
            assert_eq!(tuned.best().ratio(), 1.0);
        }
    }
    let tuner = Tuner::new(Aim::Size);
    assert_eq!(tuner.tune_pieces(&[]).unwrap().trials().len(), 1);
    assert_eq!(tuner.tune_pieces(&[&[], &[1]]).unwrap().trials().len(), 1);
    // Just enough to compress.
    assert!(tuned(Aim::Balance, &[5; 128]).best().ratio() > 2.0);
}

#[test]
fn what_is_given_stays() {
    let data = data(Kind::Walk, LEN / 4);
    for aim in Aim::ALL {
        for compressor in Compressor::ALL {
            let tuner = Tuner::new(aim).compressor(compressor);
            assert_eq!(tuner.tune(&data).unwrap().settings().compressor, compressor);
            for level in [0, 3] {
                let tuned = tuner.level(level).tune(&data).unwrap();
                let settings = tuned.settings();
                assert_eq!((settings.compressor, settings.level), (compressor, level));
            }
        }
        for filter in Filter::ALL {
            let tuned = Tuner::new(aim).filter(filter).level(2).tune(&data).unwrap();
            assert_eq!(tuned.settings().filter, filter);
        }
        for typesize in [1, 5, 255] {
            let tuner = Tuner::new(aim).typesize(typesize).level(1);
            assert_eq!(tuner.tune(&data).unwrap().settings().typesize, typesize);
        }
    }
    let tuner = Tuner::new(Aim::Speed).blocksize(Some(4096));
    assert_eq!(tuner.tune(&data).unwrap().settings().blocksize, Some(4096));
}

#[test]
fn settings_out_of_range_are_refused() {
    for len in [0, 1000, 100_000] {
        let data = data(Kind::Ramp, len);
        assert!(Tuner::default().level(10).tune(&data).is_err());
        assert!(Tuner::default().typesize(0).tune(&data).is_err());
    }
}

/// Content, as bytes, and the description of its elements in the header.
fn read_back(file: &[u8]) -> (Vec<u8>, Option<u8>) {
    let mut content = Vec::new();
    Decoder::new(file).read_to_end(&mut content).unwrap();
    let header = bloscpack::survey::Survey::of(file, &Options::new()).unwrap();
    (content, header.members[0].header.typesize)
}

#[test]
fn streams_and_files_come_back_whatever_was_chosen() {
    for kind in Kind::ALL {
        let data = data(kind, 300_000);
        for aim in Aim::ALL {
            for size in [None, Some(300_000)] {
                let mut builder = Encoder::builder().auto(aim).chunk_size(70_000).threads(2);
                if let Some(size) = size {
                    builder = builder.size(size);
                }
                let mut encoder = builder.clone().write_to(Vec::new()).unwrap();
                encoder.write_all(&data).unwrap();
                let typesize = encoder.tuned().unwrap().settings().typesize;
                let stream = encoder.finish().unwrap();
                assert_eq!(read_back(&stream), (data.clone(), Some(typesize)));

                let target = Cursor::new(Vec::new());
                let mut encoder = builder.write_to_file(target).unwrap();
                encoder.read_from(data.as_slice()).unwrap();
                assert_eq!(encoder.tuned().unwrap().settings().typesize, typesize);
                let file = encoder.finish().unwrap().into_inner();
                assert_eq!(read_back(&file), (data.clone(), Some(typesize)));
            }
        }
    }
}

#[test]
fn the_sample_of_a_stream_is_its_first_chunk() {
    let mut data = data(Kind::Sensor, 100_000);
    let first = Tuner::default().chunk_size(100_000).tune(&data).unwrap();
    data.extend(Kind::Noise.data(&mut Random::new(1), 500_000));
    let builder = Encoder::builder().auto(Aim::Balance).chunk_size(100_000);
    // However it comes.
    for step in [7, 4096, 1 << 20] {
        let mut encoder = builder.clone().write_to(Vec::new()).unwrap();
        data.chunks(step)
            .for_each(|part| encoder.write_all(part).unwrap());
        assert_eq!(encoder.tuned(), Some(&first), "{step}");
    }
}

#[test]
fn the_sample_of_a_source_is_from_all_over_it() {
    // The beginning is not representative of the rest.
    let mut data = data(Kind::Noise, LEN / 2);
    data.extend(Kind::Ramp.data(&mut Random::new(1), 7 * LEN));
    let builder = Encoder::builder().auto(Aim::Balance);
    let mut encoder = builder.write_to(Vec::new()).unwrap();
    encoder
        .read_at(Arc::new(data.clone()), 0..data.len() as u64)
        .unwrap();
    assert_eq!(encoder.tuned().unwrap().settings().typesize, 8);
    assert_eq!(decompress(&encoder.finish().unwrap()).unwrap(), data);
}

#[test]
fn what_the_builder_is_given_stays_whenever_it_is_given() {
    let data = data(Kind::Walk, 200_000);
    let before = Encoder::builder().typesize(4).level(3).auto(Aim::Size);
    let after = Encoder::builder().auto(Aim::Size).level(3).typesize(4);
    for builder in [before, after] {
        let mut encoder = builder
            .compressor(Compressor::Zlib)
            .write_to(Vec::new())
            .unwrap();
        encoder.write_all(&data).unwrap();
        assert!(encoder.tuned().is_none(), "the chunk is not full yet");
        let level = encoder.tune().unwrap().map(|tuned| tuned.settings().level);
        assert_eq!(level, Some(3));
        let stream = encoder.finish().unwrap();
        assert_eq!(read_back(&stream).1, Some(4));
        let survey = bloscpack::survey::Survey::of(stream.as_slice(), &Options::new()).unwrap();
        assert_eq!(survey.members[0].compressors[0].name(), "zlib");
    }
}

#[test]
fn empty_and_tiny_inputs_make_whole_files() {
    for len in [0, 1, 100] {
        let data = data(Kind::Ramp, len);
        for size in [None, Some(len as u64)] {
            let mut builder = Encoder::builder().auto(Aim::Balance);
            builder = match size {
                Some(size) => builder.size(size),
                None => builder,
            };
            let mut encoder = builder.clone().write_to(Vec::new()).unwrap();
            encoder.write_all(&data).unwrap();
            encoder.flush().unwrap();
            let stream = encoder.finish().unwrap();
            assert_eq!(decompress(&stream).unwrap(), data);
            let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
            encoder.write_all(&data).unwrap();
            let file = encoder.finish().unwrap().into_inner();
            let reader = IndexedReader::open(file).unwrap();
            assert_eq!(reader.content_len(), len as u64);
        }
    }
}

/// A writer that refuses its first bytes, and takes what comes then.
#[derive(Debug)]
struct Balking(bool, Vec<u8>);

impl Write for Balking {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if std::mem::replace(&mut self.0, false) {
            return Err(std::io::Error::other("not yet"));
        }
        self.1.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_chunk_follows_a_header_that_was_not_written() {
    let builder = Encoder::builder().auto(Aim::Speed).chunk_size(200_000);
    let mut encoder = builder.write_to(Balking(true, Vec::new())).unwrap();
    encoder.write_all(&[1; 200_000]).unwrap();
    encoder.write_all(&[1; 1000]).unwrap_err();
    encoder.write_all(&[1; 1000]).unwrap_err();
    assert!(encoder.get_ref().1.is_empty());
    encoder.finish().unwrap_err();
}
