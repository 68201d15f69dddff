//! How records are separated in plain bytes.

use clap::Args;

/// Options for the separator.
#[derive(Args, Clone, Copy, Debug)]
pub struct SeparatorArgs {
    /// End each record with a NUL byte, not with a line break
    #[arg(short = '0', long, conflicts_with = "lengths")]
    null: bool,

    /// Put the length of each record before it, as 4 bytes in little-endian order
    #[arg(long)]
    lengths: bool,
}

/// Where one record ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// This byte follows each record.
    Byte(u8),
    /// Its length precedes each record.
    Lengths,
    /// Nothing shows it.
    Nothing,
}

impl SeparatorArgs {
    pub fn separator(self) -> Separator {
        match (self.null, self.lengths) {
            (_, true) => Separator::Lengths,
            (true, _) => Separator::Byte(0),
            _ => Separator::Byte(b'\n'),
        }
    }
}
