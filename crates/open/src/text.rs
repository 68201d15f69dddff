//! Texts for summaries and for the command `blpk`.

use std::fmt::Display;

/// The units by letter, as powers of 1024, as in the Python tool.
const UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// A number of bytes with a unit: `1.50M (1572864B)`.
#[must_use]
pub fn pretty(bytes: u64) -> String {
    let unit = UNITS.into_iter().find(|(_, shift)| bytes >> shift > 0);
    let Some((letter, shift)) = unit else {
        return format!("{bytes}B");
    };
    let half = (1 << shift) / 2;
    let hundredths = (u128::from(bytes) * 100 + half) >> shift;
    format!(
        "{}.{:02}{letter} ({bytes}B)",
        hundredths / 100,
        hundredths % 100
    )
}

/// A number and a noun: `1 chunk`, `2 chunks`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The value, or `unknown`.
#[must_use]
pub fn or_unknown(value: Option<impl Display>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

/// A shape in Python's notation: `(1000, 3)`, `(7,)`.
#[must_use]
pub fn shape(shape: &[u64]) -> String {
    match shape {
        [rows] => format!("({rows},)"),
        _ => {
            let axes: Vec<String> = shape.iter().map(u64::to_string).collect();
            format!("({})", axes.join(", "))
        }
    }
}

/// Text from a file, with control characters escaped for a terminal.
#[must_use]
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

/// A list of names: `lz4, zstd`, or `none`.
#[must_use]
pub fn list(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::{count, plain, pretty, shape};

    #[test]
    fn nothing_reaches_the_terminal_unescaped() {
        assert_eq!(plain("a\x1b[2J\nb"), r"a\u{1b}[2J\nb");
    }

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
    fn sizes_for_people() {
        assert_eq!(pretty(0), "0B");
        assert_eq!(pretty(1023), "1023B");
        assert_eq!(pretty(1024), "1.00K (1024B)");
        assert_eq!(pretty(1_572_864), "1.50M (1572864B)");
        assert_eq!(pretty(u64::MAX), "16777216.00T (18446744073709551615B)");
    }
}
