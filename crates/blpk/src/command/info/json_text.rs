//! Metadata as it is written, laid out for reading.
//!
//! It is not parsed for that: numbers are shown digit for digit, whatever a float could hold.

/// The numbers that only Python knows, the longest first.
const PYTHON_ONLY: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
const INDENT: &str = "  ";

/// A text that is longer, or nested deeper, is shown on one line: laid out it could take hundreds of times its length.
const LONGEST: usize = 1 << 18;
const DEEPEST: usize = 32;

/// A JSON text with a line for each member and element, as many levels deep, or on one line if it is long or deep; numbers that
/// only Python knows become `null`.
pub fn pretty(text: &str, level: usize) -> String {
    let laid_out = match text.len() <= LONGEST {
        true => lay_out(text, Some(level)),
        false => None,
    };
    laid_out.or_else(|| lay_out(text, None)).unwrap_or_default()
}

/// The text on lines that begin so many levels deep, or on one; nothing if it is nested too deeply for lines.
fn lay_out(text: &str, level: Option<usize>) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_start();
    let mut depth: usize = 0;
    let line = |out: &mut String, depth: usize| {
        if let Some(level) = level {
            out.push('\n');
            out.push_str(&INDENT.repeat(level.saturating_add(depth)));
        }
    };
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => string_len(rest),
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(taken);
        let behind = behind.trim_start();
        match first {
            '{' | '[' if behind.starts_with(['}', ']']) => {
                out.push_str(token);
                out.push_str(&behind[..1]);
                rest = behind[1..].trim_start();
                continue;
            }
            '{' | '[' => {
                depth += 1;
                if depth > DEEPEST && level.is_some() {
                    return None;
                }
                out.push_str(token);
                line(&mut out, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push_str(token);
            }
            ',' => {
                out.push_str(token);
                line(&mut out, depth);
            }
            ':' if level.is_some() => out.push_str(": "),
            '"' => push_obeyed_by_none(&mut out, token),
            _ => {
                if let Some(word) = PYTHON_ONLY.iter().find(|word| rest.starts_with(**word)) {
                    out.push_str("null");
                    rest = rest[word.len()..].trim_start();
                    continue;
                }
                out.push_str(token);
            }
        }
        rest = behind;
    }
    Some(out)
}

/// JSON with nothing in its strings that a terminal would obey: JSON itself escapes only the first of these characters.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_obeyed_by_none(&mut out, text);
    out
}

fn push_obeyed_by_none(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// Bytes of the string that the text begins with, its quotes included.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::{plain, pretty};

    #[test]
    fn it_is_laid_out_as_others_do() {
        for text in [
            r#"{"a":[1,{"b":"}, \"x\\"},[]],"c":{},"d":-1.5e-3,"e":"ä","f":[[1],[2]]}"#,
            "[]",
            "[ ]",
            "1",
            r#""a\\""#,
            r#" { "a" : null , "b" : [ true , false ] } "#,
        ] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let minus = text.contains("-1.5e-3");
            let expected = format!("{value:#}");
            let expected = if minus {
                expected.replace("-0.0015", "-1.5e-3")
            } else {
                expected
            };
            assert_eq!(pretty(text, 0), expected);
        }
    }

    #[test]
    fn numbers_are_kept_and_those_of_python_are_null() {
        let text = r#"[1e400,12345678901234567890123,-Infinity,NaN,"NaN",Infinity]"#;
        let expected =
            "[\n  1e400,\n  12345678901234567890123,\n  null,\n  null,\n  \"NaN\",\n  null\n]";
        assert_eq!(pretty(text, 0), expected);
    }

    #[test]
    fn what_is_deep_or_long_is_on_one_line() {
        let deep = format!("{{ \"a\": {}1, NaN{} }}", "[".repeat(40), "]".repeat(40));
        let one = format!("{{\"a\":{}1,null{}}}", "[".repeat(40), "]".repeat(40));
        assert_eq!(pretty(&deep, 3), one);
        let long = format!("[{}0]", "0, ".repeat(100_000));
        assert_eq!(pretty(&long, 3), long.replace(' ', ""));
    }

    #[test]
    fn no_terminal_obeys_it() {
        let text = "{\"\u{9b}31m\": \"\u{7f}\"}";
        assert_eq!(pretty(text, 0), "{\n  \"\\u009b31m\": \"\\u007f\"\n}");
        assert_eq!(plain(text), "{\"\\u009b31m\": \"\\u007f\"}");
    }
}
