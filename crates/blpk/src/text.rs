//! Text for people: names in quotes, counts with their nouns, shapes.

use std::fmt::Display;
use std::path::Path;

/// The path in quotes, for messages.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", shown(path))
}

/// The path, without anything that a terminal would interpret.
pub fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// Text out of a file, without anything that a terminal would interpret.
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        if c.is_control() {
            plain.extend(c.escape_default());
        } else {
            plain.push(c);
        }
    }
    plain
}

/// `1 chunk`, `2 chunks`.
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The value, or `unknown`.
pub fn or_unknown(value: Option<impl Display>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

/// A shape as Python writes it: `(1000, 3)`, `(7,)`.
pub fn shape(shape: &[u64]) -> String {
    match shape {
        [rows] => format!("({rows},)"),
        _ => {
            let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!("({})", axes.join(", "))
        }
    }
}

/// The text of a system error without its number, which means nothing to most people.
pub fn without_code(text: &str) -> &str {
    match text.rsplit_once(" (os error ") {
        Some((words, code)) if code.trim_end_matches(')').parse::<i32>().is_ok() => words,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{count, plain, shape, without_code};

    #[test]
    fn counts_have_plurals() {
        assert_eq!(count(0, "chunk"), "0 chunks");
        assert_eq!(count(1, "chunk"), "1 chunk");
        assert_eq!(count(2, "chunk"), "2 chunks");
    }

    #[test]
    fn shapes_are_those_of_python() {
        assert_eq!(shape(&[]), "()");
        assert_eq!(shape(&[7]), "(7,)");
        assert_eq!(shape(&[7, 3]), "(7, 3)");
    }

    #[test]
    fn nothing_reaches_the_terminal_unescaped() {
        assert_eq!(plain("a\x1b[2J\nb"), r"a\u{1b}[2J\nb");
    }

    #[test]
    fn error_numbers_are_dropped() {
        let full = std::io::Error::from_raw_os_error(28).to_string();
        assert!(full.contains("28"));
        assert!(!without_code(&full).contains("28"), "{full}");
        assert_eq!(without_code("odd (os error x)"), "odd (os error x)");
    }
}
