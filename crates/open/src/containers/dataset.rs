//! State and reports that arrays and tables in directories share.

use crate::warnings::Warnings;
use crate::{Report, interrupted};
use bloscpack::Watch;
use bloscpack_array as array;

/// The common part of the containers of arrays and tables.
pub(crate) struct Common {
    /// Whether the last writer was interrupted in a change.
    pub is_interrupted: bool,
    pub warnings: Warnings,
    pub watch: Watch,
}

impl Common {
    /// A report, with the warnings that were not taken yet.
    pub(crate) fn report(&self, mut report: array::Report) -> Report {
        let warnings = self.warnings.take().into_iter();
        let warnings = warnings.map(|warning| format!(".blpk: {warning}"));
        report.warnings.extend(warnings);
        report.into()
    }

    /// The notes of a summary: on an interrupted change, followed by these warnings.
    pub(crate) fn notes(&self, warnings: &[String]) -> Vec<String> {
        let interrupted = self.is_interrupted.then(interrupted);
        interrupted.into_iter().chain(warnings.to_vec()).collect()
    }
}
