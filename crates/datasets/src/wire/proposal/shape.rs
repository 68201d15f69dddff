//! `meta/shape`: a Python tuple, as text.

use bloscpack_array::json::{empty, shown, wrong_value};
use bloscpack_error::{Code, Result};

/// Bytes of the longest file. Real shapes are shorter.
const MAX_LEN: usize = 1 << 16;

/// What messages call the expected content.
const EXAMPLE: &str = "a shape such as (300, 200)";

/// Parses the shape of a dataset, rows first. Also accepts Python 2's long integers (`300L`), and `(5)` for `(5,)`.
///
/// ```
/// use bloscpack_datasets::{wire::proposal::encode_shape, wire::proposal::parse_shape};
/// assert_eq!(parse_shape(b"(300, 200)\n")?, [300, 200]);
/// assert_eq!(encode_shape(&[5]), b"(5,)\n");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the file is not a tuple of non-negative integers of up to 64 bits, or longer than 64 KiB.
pub fn parse_shape(file: &[u8]) -> Result<Vec<u64>> {
    if file.trim_ascii().is_empty() {
        return Err(empty(EXAMPLE));
    }
    let text = std::str::from_utf8(file).ok();
    let tuple = text.filter(|_| file.len() <= MAX_LEN).and_then(parse_tuple);
    tuple.ok_or_else(|| {
        let found = shown(String::from_utf8_lossy(file).trim());
        wrong_value(Code::Metadata, "the file", format!("\"{found}\""), EXAMPLE)
    })
}

/// The bytes of the file for a shape.
#[must_use]
pub fn encode_shape(shape: &[u64]) -> Vec<u8> {
    format!("{}\n", tuple(shape)).into_bytes()
}

/// The numbers of a tuple, with optional white space.
pub(super) fn parse_tuple(text: &str) -> Option<Vec<u64>> {
    let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    inside.split(',').map(number).collect()
}

fn number(text: &str) -> Option<u64> {
    let digits = text.trim().trim_end_matches('L');
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// A tuple as Python writes it: `()`, `(3,)`, `(3, 4)`.
pub(super) fn tuple(numbers: &[u64]) -> String {
    match numbers {
        [single] => format!("({single},)"),
        _ => {
            let numbers: Vec<_> = numbers.iter().map(u64::to_string).collect();
            format!("({})", numbers.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{encode_shape, parse_shape};
    use bloscpack_error::Category;

    #[test]
    fn tuples_are_read_as_python_writes_them() {
        let facts: [(&str, &[u64]); 8] = [
            ("(300, 200)", &[300, 200]),
            ("(300, 200)\n", &[300, 200]),
            ("  ( 300,200 ) \r\n\n", &[300, 200]),
            ("(5,)", &[5]),
            ("(5)", &[5]),
            ("()", &[]),
            ("(300L, 0L)", &[300, 0]),
            ("(18446744073709551615,)", &[u64::MAX]),
        ];
        for (text, shape) in facts {
            assert_eq!(parse_shape(text.as_bytes()).unwrap(), shape, "{text}");
        }
    }

    /// The result of `str` in Python 3.11, with a newline.
    #[test]
    fn tuples_are_written_as_python_writes_them() {
        assert_eq!(encode_shape(&[]), b"()\n");
        assert_eq!(encode_shape(&[5]), b"(5,)\n");
        assert_eq!(encode_shape(&[300, 200, 0]), b"(300, 200, 0)\n");
    }

    #[test]
    fn other_texts_than_tuples_are_refused() {
        for text in [
            "300, 200",
            "[300, 200]",
            "(300, 200",
            "(-1, 2)",
            "(+1,)",
            "(1.5,)",
            "(,)",
            "(1,,2)",
            "(1, 2,,)",
            "((1), 2)",
            "(18446744073709551616,)",
            "(L,)",
            "(a)",
            "\u{ff}",
        ] {
            let error = parse_shape(text.as_bytes()).unwrap_err();
            assert_eq!(error.category(), Category::Damaged, "{text}");
        }
        for text in ["", " \n"] {
            assert_eq!(
                parse_shape(text.as_bytes()).unwrap_err().category(),
                Category::CutShort
            );
        }
        let long = format!("({})", "1, ".repeat(1 << 20));
        assert!(parse_shape(long.as_bytes()).unwrap_err().to_string().len() < 200);
    }
}
