//! How chunks are compressed.

use bloscpack::{Compressor, EncoderBuilder, Filter, edit::EditorBuilder};
use clap::Args;

use super::{BLOSC, LevelFlags, values, with_given};

/// The compressor and its level.
#[derive(Args, Debug)]
pub struct CodecArgs {
    /// Compressor
    #[arg(help_heading = BLOSC, short, long, value_name = "CODEC", ignore_case = true, value_parser = values::codec())]
    pub codec: Option<Compressor>,

    /// Compression level, 0 (none) to 9 [default: depends on the codec]
    #[arg(help_heading = BLOSC, short, long, visible_alias = "clevel", value_name = "0..9", allow_negative_numbers = true,
          value_parser = values::level)]
    level: Option<u8>,

    #[command(flatten)]
    flags: LevelFlags,
}

impl CodecArgs {
    /// The level, by whichever of its options.
    pub fn level(&self) -> Option<u8> {
        self.level.or(self.flags.0)
    }
}

/// The filter before the compressor.
#[derive(Args, Debug)]
pub struct FilterArgs {
    /// Do not shuffle; same as --shuffle none
    #[arg(help_heading = BLOSC, short = 's', long, conflicts_with = "shuffle")]
    no_shuffle: bool,

    /// Filter before compression
    #[arg(help_heading = BLOSC, long, value_name = "FILTER", value_parser = values::filter())]
    shuffle: Option<Filter>,
}

impl FilterArgs {
    /// The filter, by whichever of its options.
    pub fn filter(&self) -> Option<Filter> {
        self.shuffle.or(self.no_shuffle.then_some(Filter::None))
    }
}

/// All settings of a chunk.
#[derive(Args, Debug)]
pub struct ChunkArgs {
    /// Element size in bytes, 1 to 255
    #[arg(help_heading = BLOSC, short, long, value_name = "N", allow_negative_numbers = true, value_parser = values::typesize)]
    typesize: Option<u8>,

    #[command(flatten)]
    codec: CodecArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

/// Sets on a builder what was given.
macro_rules! applied {
    ($args:expr, $builder:expr) => {
        with_given!($builder,
            typesize: $args.typesize,
            level: $args.codec.level(),
            filter: $args.filter.filter(),
            compressor: $args.codec.codec,
        )
    };
}

impl ChunkArgs {
    /// Whether any of them was given.
    pub fn is_any_given(&self) -> bool {
        let codec = self.codec.codec.is_some() || self.codec.level().is_some();
        codec || self.typesize.is_some() || self.filter.filter().is_some()
    }

    /// Whether the data is only stored.
    pub fn is_stored(&self) -> bool {
        self.codec.level() == Some(0)
    }

    /// Sets on an encoder what was given.
    pub fn encoder(&self, builder: EncoderBuilder) -> EncoderBuilder {
        applied!(self, builder)
    }

    /// Sets on an editor what was given.
    pub fn editor(&self, builder: EditorBuilder) -> EditorBuilder {
        applied!(self, builder)
    }
}
