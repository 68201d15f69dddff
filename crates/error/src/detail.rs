//! [`Detail`]: errors of the crates above this one.

use crate::Code;
use blosc1::Fault;
use bloscpack_wire::Limit;

/// A typed error of a crate above this one: of a dataset, a frame, or an exchange format.
///
/// [`Error::detail`](crate::Error::detail) returns it with its type.
pub trait Detail: std::error::Error + Send + Sync + 'static {
    /// The party at fault, which determines the category of the error.
    fn fault(&self) -> Fault;

    /// What went wrong.
    fn code(&self) -> Code {
        self.fault().into()
    }

    /// The limit that the input exceeds, if it exceeds one.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// Advice on what to do next.
    fn hint(&self) -> Option<&'static str> {
        None
    }
}
