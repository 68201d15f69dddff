//! Options that several subcommands share, and how their values are parsed.
//!
//! The options of a single subcommand are in its own file under `command/`.

mod chunks;
mod global;
mod level;
mod operands;
mod values;

pub use chunks::{ChunkArgs, CodecArgs, FilterArgs};
pub use global::{Global, MAX_THREADS, When};
pub use level::LevelFlags;
pub use operands::Operands;
pub use values::{
    Auto, CODECS, aim, array_layout, auto, bytes, checksum, chunk_size, converted_layout, count,
    dtype, format_read, format_written, header_format, index, range, rows, slice,
};

/// The heading above the options of chunks.
pub const BLOSC: &str = "Blosc settings";

/// A builder with the settings that were given.
macro_rules! with_given {
    ($builder:expr, $($setter:ident: $value:expr),+ $(,)?) => {{
        let builder = $builder;
        $(let builder = match $value {
            Some(value) => builder.$setter(value),
            None => builder,
        };)+
        builder
    }};
}
pub(crate) use with_given;
