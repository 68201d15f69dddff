//! Import and export: all of `bloscpack-exchange`, and [`NumpyFile`], the NumPy array in a Bloscpack file.

pub use crate::numpy_file::NumpyFile;
pub use bloscpack_exchange::*;
