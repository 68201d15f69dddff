//! Content into a new Bloscpack file or stream.

use std::io::Read;
use std::sync::Arc;

use bloscpack::{EncoderBuilder, Error, blosc::Tuned, error::IoSide as _};

use crate::input::Rest;
use crate::output::Target;

/// Where the content comes from.
pub enum Content<'a> {
    /// Read in order.
    Reader(&'a mut dyn Read),
    /// A regular file or an object of this length, which all threads read at once.
    File(Arc<Rest>, u64),
}

/// The length of the content, and the settings that the encoder chose, if it was asked to.
pub type Encoded = (u64, Option<Tuned>);

macro_rules! encode_with {
    ($encoder:expr, $content:expr) => {{
        // An encoder that is dropped, not finished, leaves a file that no reader takes for complete.
        let mut encoder = $encoder;
        let len = match $content {
            Content::Reader(reader) => encoder.read_from(reader)?,
            Content::File(file, len) => {
                let read = encoder.read_at(Arc::clone(&file), 0..len)?;
                refuse_more(&file, len)?;
                read
            }
        };
        let tuned = encoder.tune()?.cloned();
        encoder.finish()?;
        Ok((len, tuned))
    }};
}

/// Compresses all of the content.
pub fn encode(
    builder: EncoderBuilder,
    content: Content<'_>,
    output: &mut Target,
) -> bloscpack::Result<Encoded> {
    match output.seekable() {
        Some(file) => encode_with!(builder.write_to_file(file)?, content),
        None => encode_with!(builder.write_to(output)?, content),
    }
}

/// Refuses a file that has grown while it was read.
fn refuse_more(file: &Rest, promised: u64) -> bloscpack::Result<()> {
    if file.reaches_past(promised).reading()? {
        let given = promised + 1;
        Err(Error::wrong_size(promised, given))
    } else {
        Ok(())
    }
}
