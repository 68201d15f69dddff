//! [`Damage`]: an entry in the reports of verification and recovery.

use bloscpack_error::Error;
use std::ops::Range;

/// A damage of an input.
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
    /// The range of the lost records, or a range that contains them, if the chunks hold records and it is known; counted over
    /// all members.
    pub records: Option<Range<u64>>,
}

impl Damage {
    /// A damage with its error and nothing else.
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
