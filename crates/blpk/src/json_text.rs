//! JSON text, laid out for reading.
//!
//! The text is not parsed, so numbers keep all digits, even those that a float cannot hold.

use std::io::{self, Write};

use serde_core::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::failure::Failure;
use crate::output::{Printer, not_printed};
use crate::status::Status;

/// The numbers that only Python writes, the longest first.
const PYTHON_ONLY: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
const INDENT: &str = "  ";

/// A longer or deeper nested text is shown on one line: laid out, it could be hundreds of times as long.
const LONGEST: usize = 1 << 18;
const DEEPEST: usize = 32;

/// Lays out a JSON text with one line for each member and element, indented by `level`, or on one line if it is long or deeply
/// nested. Numbers that only Python writes become strings, such as `"NaN"`.
pub fn pretty(text: &str, level: usize) -> String {
    let laid_out = if text.len() <= LONGEST {
        lay_out(text, Some(level))
    } else {
        None
    };
    laid_out.or_else(|| lay_out(text, None)).unwrap_or_default()
}

/// The text on lines indented by `level`, or on one line if that is `None`. Returns `None` if it is nested too deeply for lines.
fn lay_out(text: &str, level: Option<usize>) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_start();
    let mut depth: usize = 0;
    let line = |out: &mut String, depth: usize| {
        if let Some(level) = level {
            out.push('\n');
            out.push_str(&INDENT.repeat(level + depth));
        }
    };
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '"' => string_len(rest),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(taken);
        let after = after.trim_start();
        match first {
            '{' | '[' if after.starts_with(['}', ']']) => {
                out.push_str(token);
                out.push_str(&after[..1]);
                rest = after[1..].trim_start();
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
                // Saturates: the text may close more than it opened.
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push_str(token);
            }
            ',' => {
                out.push_str(token);
                line(&mut out, depth);
            }
            ':' if level.is_some() => out.push_str(": "),
            '"' => push_escaped(&mut out, token),
            _ => {
                if let Some(word) = PYTHON_ONLY.iter().find(|word| rest.starts_with(**word)) {
                    out.push_str(&format!("\"{word}\""));
                    rest = rest[word.len()..].trim_start();
                    continue;
                }
                out.push_str(token);
            }
        }
        rest = after;
    }
    Some(out)
}

/// Prints a value as JSON, laid out for reading. Raw JSON from a file keeps its numbers.
pub fn print(value: &impl Serialize) -> Result<(), Failure> {
    let mut printer = Printer::new();
    let layout = Layout::default();
    let mut serializer = Serializer::with_formatter(printer.writer(), layout);
    let done = value.serialize(&mut serializer);
    drop(serializer);
    done.map_err(|error| {
        if error.is_io() {
            not_printed(error.into())
        } else {
            Failure::new(Status::Failed, error.to_string())
        }
    })?;
    printer.line("")?;
    printer.finish()
}

/// Formats JSON on lines, and escapes all characters that a terminal would interpret; JSON itself escapes only some of them.
#[derive(Default)]
struct Layout {
    lines: PrettyFormatter<'static>,
    depth: usize,
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.lines.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.lines.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.lines.begin_array_value(to, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.lines.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.lines.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.lines.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.lines.begin_object_key(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.lines.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.lines.end_object_value(writer)
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        to: &mut W,
        text: &str,
    ) -> io::Result<()> {
        to.write_all(plain(text).as_bytes())
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, to: &mut W, text: &str) -> io::Result<()> {
        to.write_all(pretty(text, self.depth).as_bytes())
    }
}

/// The content of a string, with all control characters but line breaks escaped.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text);
    out
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// Bytes of the string at the beginning of the text, including its quotes.
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
    fn it_is_laid_out_as_usual() {
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
    fn numbers_are_kept_and_those_of_python_become_names() {
        let text = r#"[1e400,12345678901234567890123,-Infinity,NaN,"NaN",Infinity]"#;
        let expected = "[\n  1e400,\n  12345678901234567890123,\n  \"-Infinity\",\n  \"NaN\",\n  \"NaN\",\n  \"Infinity\"\n]";
        assert_eq!(pretty(text, 0), expected);
    }

    #[test]
    fn deep_or_long_text_is_on_one_line() {
        let deep = format!("{{ \"a\": {}1, NaN{} }}", "[".repeat(40), "]".repeat(40));
        let one = format!("{{\"a\":{}1,\"NaN\"{}}}", "[".repeat(40), "]".repeat(40));
        assert_eq!(pretty(&deep, 3), one);
        let long = format!("[{}0]", "0, ".repeat(100_000));
        assert_eq!(pretty(&long, 3), long.replace(' ', ""));
    }

    #[test]
    fn control_characters_are_escaped() {
        let text = "{\"\u{9b}31m\": \"\u{7f}\"}";
        assert_eq!(pretty(text, 0), "{\n  \"\\u009b31m\": \"\\u007f\"\n}");
        assert_eq!(plain(text), "{\"\\u009b31m\": \"\\u007f\"}");
    }
}
