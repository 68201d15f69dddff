//! How records lie one behind another in plain bytes.

use clap::Args;

/// What tells records apart; line breaks unless told otherwise.
#[derive(Args, Clone, Copy, Debug)]
pub struct Separators {
    /// A NUL byte ends each record, in place of a line break
    #[arg(short = '0', long, conflicts_with = "lengths")]
    null: bool,

    /// The length of each record stands before it, as a little-endian number of 4 bytes
    #[arg(long)]
    lengths: bool,
}

/// Where one record ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// This byte stands behind each.
    Byte(u8),
    /// Its length stands before each.
    Lengths,
    /// Nothing tells.
    Nothing,
}

impl Separators {
    pub fn separator(self) -> Separator {
        match (self.null, self.lengths) {
            (_, true) => Separator::Lengths,
            (true, _) => Separator::Byte(0),
            _ => Separator::Byte(b'\n'),
        }
    }
}
