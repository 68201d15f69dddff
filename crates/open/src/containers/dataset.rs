//! Directories: what arrays and tables have in common.

use crate::warnings::Warnings;
use crate::{Report, interrupted};
use bloscpack::Watch;
use bloscpack_datasets::{DatasetReport, Warning};

/// The common part of arrays and tables.
pub(crate) struct Common {
    pub is_interrupted: bool,
    pub warnings: Warnings,
    pub watch: Watch,
}

impl Common {
    /// A report, with the warnings that there were.
    pub(crate) fn report(&self, report: DatasetReport) -> Report {
        let mut all = Report::of(report.chunks, report.bytes, report.damages);
        all.warnings = report.warnings.iter().map(text).collect();
        let warnings = self.warnings.take().into_iter();
        let warnings = warnings.map(|warning| format!(".blpk: {warning}"));
        all.warnings.extend(warnings);
        all
    }

    /// The notes of a summary: on a change that was interrupted, and these warnings.
    pub(crate) fn notes(&self, warnings: &[Warning]) -> Vec<String> {
        let interrupted = self.is_interrupted.then(interrupted);
        interrupted
            .into_iter()
            .chain(warnings.iter().map(text))
            .collect()
    }
}

/// A warning as text.
pub(crate) fn text(warning: &Warning) -> String {
    format!("{}: {}", warning.path, warning.message)
}
