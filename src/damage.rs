//! [`Damage`]: what verification and recovery report.

use bloscpack_error::Error;
use std::ops::Range;

/// Something that is wrong with an input.
///
/// ```
/// use bloscpack::{Encoder, verify::verify};
/// use std::io::Write;
/// let mut encoder = Encoder::builder().chunk_size(1000).write_to(Vec::new())?;
/// encoder.write_all(&[7; 3000])?;
/// let mut file = encoder.finish()?;
/// file[50] ^= 1; // in the first chunk
/// let report = verify(file.as_slice(), Default::default(), 1)?;
/// assert_eq!(report.damages[0].content, Some(0..1000));
/// assert_eq!(report.bytes, 2000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The error, with chunk, byte and section.
    pub error: Error,
    /// The bytes of the input that are damaged, if that is known: for example those of a chunk with its digest. The range
    /// is empty if something is missing between two bytes.
    pub bytes: Option<Range<u64>>,
    /// The uncompressed bytes that are lost, counted over all members, if that is known.
    pub content: Option<Range<u64>>,
    /// The records that are lost, or among which the lost ones are, if chunks hold records; counted over all members, and
    /// if that is known.
    pub records: Option<Range<u64>>,
}

impl Damage {
    /// Damage of which only the error is known.
    pub(crate) fn of(error: Error) -> Self {
        Self {
            error,
            bytes: None,
            content: None,
            records: None,
        }
    }

    /// The same damage, in these bytes of the input.
    pub(crate) fn in_bytes(mut self, bytes: Range<u64>) -> Self {
        self.bytes = Some(bytes);
        self
    }
}
