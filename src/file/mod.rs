//! Reading and writing Bloscpack files over [`Read`](std::io::Read) and
//! [`Write`](std::io::Write).
//!
//! ```text
//!   Encoder, SeekEncoder ─► chunks ─► pipeline (compress, hash) ─► Write
//!   Read ─► wire::Parser ─► engine ─► pipeline (check, decompress) ─► Decoder, verify
//!   Read ─► wire::Parser ─► survey
//! ```

mod decoder;
mod encoder;
mod engine;
mod pipeline;
mod source;
mod survey;
mod verify;

pub use decoder::{Decoder, DecoderBuilder, Warning};
pub use encoder::{Encoder, EncoderBuilder, SeekEncoder};
pub use survey::{Member, State, Survey};
pub use verify::{Damage, Report, verify};
