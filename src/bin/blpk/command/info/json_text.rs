//! Metadata as it is written, laid out for reading.
//!
//! It is not parsed for that: numbers are shown digit for digit, whatever a float could hold.

/// The numbers that only Python knows, the longest first.
const PYTHON_ONLY: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
const INDENT: &str = "  ";

/// A JSON text with a line for each member and element, as many levels deep; numbers that only Python
/// knows become `null`.
pub fn pretty(text: &str, mut level: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.trim_start();
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
                level += 1;
                out.push_str(token);
                line(&mut out, level);
            }
            '}' | ']' => {
                level = level.saturating_sub(1);
                line(&mut out, level);
                out.push_str(token);
            }
            ',' => {
                out.push_str(token);
                line(&mut out, level);
            }
            ':' => out.push_str(": "),
            '"' => out.push_str(token),
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
    out
}

fn line(out: &mut String, level: usize) {
    out.push('\n');
    out.push_str(&INDENT.repeat(level));
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
    use super::pretty;

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
}
