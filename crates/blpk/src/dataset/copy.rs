//! Elements of an array into an output, in C order.

use std::io::Write;
use std::ops::Range;

use super::parts::in_parts;
use super::slice::Region;
use super::slice_reader::SliceReader;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use bloscpack::wire::internal::to_u64;

/// Writes a region of an array, or these of its bytes, and returns how many bytes that were.
pub fn copy_region(
    array: &dyn SliceReader,
    region: &Region,
    bytes: Range<u64>,
    failed: &dyn Fn(bloscpack::Error) -> Failure,
    output: &mut Output,
    session: &Session,
) -> Result<u64, Failure> {
    let itemsize = array.itemsize();
    let progress = Progress::new(session, Some(region.bytes(itemsize)));
    let (mut at, mut written) = (0, 0);
    let mut copy = |part: &[Range<u64>]| {
        let ranges = part.to_vec();
        let len = Region { ranges }.bytes(itemsize);
        let wanted = within(&bytes, at, len);
        at += len;
        progress.advance(len);
        if wanted.is_empty() {
            return Ok(());
        }
        let data = array.read(part);
        let data = data.map_err(|error| output.unfinished(failed(error)))?;
        let data = cut(&data, wanted).map_err(|error| output.unfinished(failed(error)))?;
        output
            .write_all(data)
            .map_err(|error| output.failed(&error))?;
        written += to_u64(data.len());
        Ok(())
    };
    in_parts(&region.ranges, itemsize, &array.chunk_shape(), &mut copy)?;
    progress.finish();
    Ok(written)
}

/// The part of `wanted` that is among the `len` bytes at `at`, counted from there.
pub fn within(wanted: &Range<u64>, at: u64, len: u64) -> Range<u64> {
    // Positions before `at` are those of its first byte.
    let clip = |position: u64| position.saturating_sub(at).min(len);
    clip(wanted.start)..clip(wanted.end)
}

/// These of the bytes.
pub fn cut(data: &[u8], range: Range<u64>) -> bloscpack::Result<&[u8]> {
    let bound = |position: u64| usize::try_from(position).ok();
    let found = bound(range.start).zip(bound(range.end));
    found
        .and_then(|(start, end)| data.get(start..end))
        .ok_or_else(|| {
            let len = data.len();
            bloscpack::Error::bug(format!("bytes {range:?} of {len} are wanted"))
        })
}

#[cfg(test)]
mod tests {
    use super::{cut, within};

    #[test]
    fn ranges_are_clipped() {
        assert_eq!(within(&(3..7), 0, 10), 3..7);
        assert_eq!(within(&(3..7), 5, 10), 0..2);
        assert_eq!(within(&(3..u64::MAX), 5, 10), 0..10);
        assert!(within(&(3..5), 5, 10).is_empty());
        assert!(within(&(15..20), 5, 10).is_empty());
    }

    #[test]
    fn missing_bytes_are_a_bug() {
        assert_eq!(cut(b"abc", 1..3).unwrap(), b"bc");
        assert!(cut(b"abc", 1..4).is_err());
    }
}
