//! Import and export: all of `bloscpack-exchange`, and the NumPy array in a Bloscpack file as a source.

pub use crate::numpy_file::NumpyFile;
pub use bloscpack_exchange::*;
