//! Tests of trailers and metalayers that are wrong or too long.

use crate::counting::peak_of;
use crate::frame_parts::{Parts, numbers, options};
use blosc1::{MAX_NBYTES, SpecialValue, special_chunk};
use bloscpack_error::Category;
use bloscpack_frames::Frame;
use bloscpack_wire::Limits;

#[test]
fn trailers_that_lie_are_refused() {
    let bytes = Parts::sound().bytes();
    let at = bytes.len() - 22;
    let len = bytes.len() as u32;
    for wrong in [
        0,
        1,
        34,
        35,
        len - 10,
        len - 100,
        len,
        len + 1,
        u32::MAX,
        1 << 31,
    ] {
        let mut wrongly = bytes.clone();
        wrongly[at..at + 4].copy_from_slice(&wrong.to_be_bytes());
        let (opened, peak) = peak_of(|| Frame::read_with(wrongly, &options()));
        assert!(opened.is_err() && peak < 1 << 20, "{wrong}: {peak} bytes");
    }
}

#[test]
fn metadata_of_nothing_is_bounded_by_the_limit() {
    let mut parts = Parts::sound();
    let chunk = special_chunk(SpecialValue::Zeros, MAX_NBYTES, 1, 0).unwrap();
    parts.trailer.vlmetalayers.set("bomb", chunk).unwrap();
    let array = parts.array().unwrap();
    let frame = array.frame();
    let (read, peak) = peak_of(|| frame.vlmetalayer("bomb"));
    assert_eq!(read.unwrap_err().category(), Category::OverLimit);
    assert!(peak < 1 << 20, "{peak} bytes");
    assert_eq!(frame.vlmetalayer("note").unwrap().unwrap(), b"sound");
    assert!(!frame.verify(|_| {}).is_sound());
    assert_eq!(array.like().unwrap_err().category(), Category::OverLimit);
    // No chunk, and one that is cut.
    for wrong in [&b""[..], b"metres", &[0; 16], &[5; 40]] {
        let mut parts = Parts::sound();
        parts
            .trailer
            .vlmetalayers
            .set("bomb", wrong.to_vec())
            .unwrap();
        let error = parts.frame().unwrap().vlmetalayer("bomb").unwrap_err();
        assert!(error.to_string().contains("bomb"), "{error}");
    }
}

/// More layers than there is room for are refused at once, and not by the flush.
#[test]
fn layers_are_counted_when_they_are_set() {
    let mut frame = Frame::builder(1, 10).in_memory().unwrap();
    for number in 0..16 {
        frame.set_metalayer(&format!("{number}"), vec![1]).unwrap();
    }
    let error = frame.set_metalayer("16", vec![1]).unwrap_err();
    assert_eq!(error.category(), Category::Usage);
    frame.set_metalayer("15", vec![2; 9]).unwrap();
    let (mut count, mut error) = (0, None);
    while error.is_none() {
        let name = format!("{count:031}");
        error = frame.set_vlmetalayer(&name, b"").err();
        count += 1;
    }
    assert_eq!(error.unwrap().category(), Category::Usage);
    assert_eq!(count, 65_529 / 37 + 1);
    frame.set_vlmetalayer(&format!("{:031}", 7), b"7").unwrap();
    frame.flush().unwrap();
    let frame = Frame::from_bytes(frame.to_bytes().unwrap()).unwrap();
    assert_eq!(
        (frame.metalayers().len(), frame.vlmetalayers().count()),
        (16, count - 1)
    );
}

/// A frame that was written can be opened again.
#[test]
fn layers_are_held_to_the_limit_when_they_are_set() {
    let limits = Limits::new().metadata(10_000);
    let strict = options().limits(limits);
    let noise = numbers(1500, true);
    let builder = || Frame::builder(1, 10).options(strict.clone());
    let mut frame = builder().in_memory().unwrap();
    frame.set_metalayer("a", noise.clone()).unwrap();
    frame.set_vlmetalayer("a", &noise).unwrap();
    for (name, times) in [("b", 1), ("a", 2)] {
        let error = frame.set_metalayer(name, noise.repeat(times)).unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
        let more = numbers(1500 * times, true);
        let error = frame.set_vlmetalayer(name, &more).unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
    }
    frame.append(&[7; 10]).unwrap();
    frame.flush().unwrap();
    let frame = Frame::read_with(frame.to_bytes().unwrap(), &strict).unwrap();
    assert_eq!(frame.metalayers().get("a"), Some(&noise[..]));
    assert_eq!(frame.vlmetalayer("a").unwrap().unwrap(), noise);
    assert_eq!(
        (frame.metalayers().len(), frame.vlmetalayers().count()),
        (1, 1)
    );
    let long = builder().metalayer("a", noise.repeat(2)).unwrap();
    let error = long.in_memory().unwrap_err();
    assert_eq!(error.category(), Category::OverLimit, "{error}");
}

/// A layer that is short only while it is compressed, one chunk too many, chunks and blocks that are too long.
#[test]
fn what_is_written_is_held_to_all_limits_of_reading() {
    fn over<T: std::fmt::Debug>(result: bloscpack_error::Result<T>) {
        let error = result.unwrap_err();
        assert_eq!(error.category(), Category::OverLimit, "{error}");
        assert!(error.hint().is_some());
    }
    let limits = Limits::new().metadata(10_000).offsets(24).chunk(100);
    let strict = options().limits(limits.block(50));
    let builder = |chunk| Frame::builder(1, chunk).options(strict.clone());
    let mut frame = builder(10).in_memory().unwrap();
    frame.set_vlmetalayer("a", &[0; 10_000]).unwrap();
    over(frame.set_vlmetalayer("b", &[0; 10_001]));
    for _ in 0..3 {
        frame.append(&[7; 10]).unwrap();
    }
    over(frame.append(&[7; 10]));
    frame.flush().unwrap();
    let frame = Frame::read_with(frame.to_bytes().unwrap(), &strict).unwrap();
    assert_eq!(frame.vlmetalayer("a").unwrap().unwrap(), [0; 10_000]);
    assert_eq!((frame.chunks(), frame.content_len()), (3, 30));

    let long = builder(10).vlmetalayer("a", &[0; 10_001]).unwrap();
    over(long.in_memory());
    over(builder(101).in_memory());
    over(builder(100).blocksize(51).in_memory());
    builder(100).blocksize(50).in_memory().unwrap();
    // The default limits are those of any reader.
    over(
        Frame::builder(1, 300 << 20)
            .blocksize(257 << 20)
            .in_memory(),
    );
}
