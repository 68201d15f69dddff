//! bcolz as the programs write it, by section 1 of the notes on real datasets.

use super::Read;
use super::real::{Dirs, Relaxed, Rules, Shuffle, read as read_by};
use std::path::Path;

/// bcolz 1.1 and later, and bcolz-zipline.
pub const SINCE_1_1: Rules = Rules {
    params: "cparams",
    shuffle: Shuffle::Either,
    compressor: true,
    nested_default: false,
    overhead: 0,
    dirs: Dirs::Absent,
    long_typesize: false,
    old_blosc: false,
};

/// bcolz 1.0.
pub const V1_0: Rules = Rules {
    shuffle: Shuffle::Number,
    compressor: false,
    nested_default: true,
    overhead: 128,
    ..SINCE_1_1
};

/// bcolz 0.12.
pub const V0_12: Rules = Rules {
    shuffle: Shuffle::Truth,
    ..V1_0
};

/// carray 0.5.
pub const CARRAY_0_5: Rules = Rules {
    dirs: Dirs::Paths,
    long_typesize: true,
    old_blosc: true,
    ..V0_12
};

/// Reads a dataset; panics unless it is exactly as bcolz 1.1 or later would have written it.
pub fn read(root: &Path) -> Read {
    read_by(root, SINCE_1_1, Relaxed::default())
}
