//! BLZ 0.6 as the program writes it, by section 1 of the notes on real datasets.

use super::Read;
use super::real::{Dirs, Relaxed, Rules, Shuffle, read as read_by};
use std::path::Path;

pub const V0_6: Rules = Rules {
    params: "bparams",
    shuffle: Shuffle::Truth,
    compressor: false,
    nested_default: true,
    overhead: 128,
    dirs: Dirs::Names,
    long_typesize: false,
    old_blosc: true,
};

/// Reads a dataset; panics unless it is exactly as BLZ 0.6 would have written it.
pub fn read(root: &Path) -> Read {
    read_by(root, V0_6, Relaxed::default())
}
