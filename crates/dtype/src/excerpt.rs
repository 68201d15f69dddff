//! Texts, as errors repeat them.

/// The beginning of a text, quoted, as errors repeat it.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{:?}...", text.split_at(end).0),
        None => format!("{text:?}"),
    }
}
