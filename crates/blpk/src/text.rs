//! Text for people: names in quotes, counts with their nouns, shapes.

use std::path::Path;

use crate::url;

pub use bloscpack_open::internal::{count, or_unknown, plain, shape};

/// The path in quotes, for messages; of a URL, without what may be secret.
pub fn quoted(path: &Path) -> String {
    if url::is_url(path) {
        url::name(path)
    } else {
        format!("'{}'", shown(path))
    }
}

/// The path for scripts: as it was given; of a URL, without what may be secret.
pub fn exact(path: &Path) -> String {
    if url::is_url(path) {
        url::public(path)
    } else {
        path.to_string_lossy().into_owned()
    }
}

/// The path, without anything that a terminal would interpret.
pub fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// The text of a system error without its number, which means nothing to most people.
pub fn without_code(text: &str) -> &str {
    match text.rsplit_once(" (os error ") {
        // Windows ends them with a dot.
        Some((words, code)) if code.trim_end_matches(')').parse::<i32>().is_ok() => {
            words.trim_end_matches('.')
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::without_code;

    #[test]
    fn error_numbers_are_dropped() {
        let full = std::io::Error::from_raw_os_error(28).to_string();
        assert!(full.contains("28"));
        assert!(!without_code(&full).contains("28"), "{full}");
        assert_eq!(without_code("odd (os error x)"), "odd (os error x)");
        assert_eq!(
            without_code("'a': Access denied. (os error 5)"),
            "'a': Access denied"
        );
    }
}
