//! Errors of bloscpack as those of DataFusion.

use bloscpack::Error;
use datafusion::error::DataFusionError;

/// The error in which DataFusion passes on one of ours; `DataFusionError::find_root` returns it.
pub(crate) fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
