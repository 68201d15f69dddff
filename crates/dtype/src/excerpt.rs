//! Quotations of the input in error messages.

/// The first 60 characters of a text, quoted, for an error message.
pub(crate) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{:?}...", text.split_at(end).0),
        None => format!("{text:?}"),
    }
}
