//! YAML as JSON values, and back.

use bloscpack_array::json::python_json;
use bloscpack_array::json::{TextPosition, empty, shown, too_long};
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::internal::to_u64;
use granit_parser::{Event, Parser, ScalarStyle, Span};
use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// Bytes of the longest file.
const MAX_LEN: usize = 16 << 20;
/// The maximum depth of nested values, as for JSON.
const MAX_DEPTH: usize = 127;
/// The maximum number of values. A value of two bytes in the file takes many times as much memory.
const MAX_NODES: usize = 1 << 20;

/// Parses a file with one document. Floats that JSON cannot express (`.nan`, `.inf`) become strings, as Python's JSON names
/// them: `NaN`, `Infinity` and `-Infinity`.
pub(super) fn parse(file: &[u8]) -> Result<Value> {
    if file.len() > MAX_LEN {
        return Err(too_long("file", to_u64(file.len()), to_u64(MAX_LEN)));
    }
    let text = std::str::from_utf8(file).map_err(|error| not_yaml(&error.to_string()))?;
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let (what, at) = (error.info(), error.marker());
            let (line, column) = (at.line(), at.col() + 1);
            not_yaml(&format!("{what} ({})", TextPosition { line, column }))
        })?;
        builder.take(event, &span)?;
    }
    builder.document.ok_or_else(|| empty("YAML"))
}

fn not_yaml(reason: &str) -> Error {
    Error::new(Code::Metadata, format!("not YAML: {reason}"))
}

/// A list or map that the parser is inside.
enum Open {
    List(Vec<Value>),
    Map {
        map: Map<String, Value>,
        /// The key whose value comes next.
        key: Option<String>,
    },
}

/// Builds values from events.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    document: Option<Value>,
    nodes: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<()> {
        self.count(&event, span)?;
        let value = match event {
            Event::Scalar(text, style, ..) if self.awaits_key() => {
                return self.key(text.into_owned(), style, span);
            }
            Event::Scalar(text, style, ..) => match style {
                ScalarStyle::Plain => plain(&text),
                _ => Value::String(text.into_owned()),
            },
            Event::SequenceStart(..) | Event::MappingStart(..) if self.awaits_key() => {
                return Err(unsupported("a list or map as a key", span));
            }
            Event::SequenceStart(..) => {
                self.open.push(Open::List(Vec::new()));
                return Ok(());
            }
            Event::MappingStart(..) => {
                let (map, key) = (Map::new(), None);
                self.open.push(Open::Map { map, key });
                return Ok(());
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Map { map, .. }) => Value::Object(map),
                None => return Err(unsupported("an end without a beginning", span)),
            },
            Event::Alias(_) => return Err(unsupported("an alias", span)),
            _ => return Ok(()),
        };
        self.put(value, span)
    }

    /// Limits the number and depth of values, and refuses anchors and tags, which JSON cannot express.
    fn count(&mut self, event: &Event<'_>, span: &Span) -> Result<()> {
        if event.anchor_id().is_some() {
            return Err(unsupported("an anchor", span));
        }
        if event.tag().is_some() {
            return Err(unsupported("a tag", span));
        }
        self.nodes += 1;
        if self.nodes > MAX_NODES || self.open.len() > MAX_DEPTH {
            let at = position(span);
            return Err(Error::new(
                Code::OverLimit,
                format!(
                    "more than {MAX_NODES} values, or one nested deeper than {MAX_DEPTH} ({at})"
                ),
            ));
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open::Map { key: None, .. }))
    }

    fn key(&mut self, text: String, style: ScalarStyle, span: &Span) -> Result<()> {
        if style == ScalarStyle::Plain && text == "<<" {
            return Err(unsupported("a merge key", span));
        }
        if let Some(Open::Map { map, key }) = self.open.last_mut() {
            if map.contains_key(&text) {
                let (key, at) = (shown(&text), position(span));
                return Err(Error::new(
                    Code::Metadata,
                    format!("\"{key}\" ({at}) occurs twice"),
                ));
            }
            *key = Some(text);
        }
        Ok(())
    }

    fn put(&mut self, value: Value, span: &Span) -> Result<()> {
        match self.open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map { map, key }) => {
                // The parser reports a key before its value.
                let key = key
                    .take()
                    .ok_or_else(|| unsupported("a value without a key", span))?;
                map.insert(key, value);
            }
            None if self.document.is_some() => {
                return Err(unsupported("a second document", span));
            }
            None => self.document = Some(value),
        }
        Ok(())
    }
}

fn unsupported(what: &str, span: &Span) -> Error {
    let at = position(span);
    Error::new(
        Code::Unsupported,
        format!("unsupported YAML: {what} ({at})"),
    )
}

fn position(span: &Span) -> TextPosition {
    TextPosition {
        line: span.start.line(),
        column: span.start.col() + 1,
    }
}

/// The value of an unquoted scalar in the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return infinite(text);
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return "NaN".into();
    }
    integer(text, unsigned)
        .or_else(|| float(text, unsigned))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// `Infinity` or `-Infinity`, by the sign of the text.
fn infinite(text: &str) -> Value {
    if text.starts_with('-') {
        "-Infinity".into()
    } else {
        "Infinity".into()
    }
}

fn integer(text: &str, unsigned: &str) -> Option<Value> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text
            .strip_prefix(prefix)
            .filter(|rest| !rest.starts_with('+'))
        {
            return u64::from_str_radix(digits, radix).ok().map(Value::from);
        }
    }
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let signed = text.parse::<i64>().ok().map(Value::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Value::from))
}

/// Parses a float. A number that is too large becomes infinite.
fn float(text: &str, unsigned: &str) -> Option<Value> {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => is_number(fraction),
        Some((whole, fraction)) => is_number(whole) && (fraction.is_empty() || is_number(fraction)),
        None => is_number(mantissa),
    };
    let is_exponent = exponent
        .is_none_or(|exponent| is_number(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)));
    if !is_mantissa || !is_exponent {
        return None;
    }
    let float = text.parse().ok()?;
    Some(Number::from_f64(float).map_or_else(|| infinite(text), Value::Number))
}

/// Writes a map in block style, each key on a line indented by `indent` spaces. Maps inside it are indented by two more; lists
/// are in brackets on the line of their key.
pub(super) fn write_map(text: &mut String, map: &Map<String, Value>, indent: usize) {
    for (key, value) in map {
        let _ = write!(text, "{:indent$}{}:", "", scalar(key));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push('\n');
                write_map(text, inner, indent + 2);
            }
            _ => {
                text.push(' ');
                write_flow(text, value);
                text.push('\n');
            }
        }
    }
}

fn write_flow(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (number, item) in items.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                write_flow(text, item);
            }
            text.push(']');
        }
        Value::Object(map) => {
            text.push('{');
            for (number, (key, value)) in map.iter().enumerate() {
                text.push_str(if number == 0 { "" } else { ", " });
                let _ = write!(text, "{}: ", scalar(key));
                write_flow(text, value);
            }
            text.push('}');
        }
        Value::String(string) => text.push_str(&scalar(string)),
        Value::Number(number) if number.is_f64() => text.push_str(&float_text(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => text.push_str(&python_json(value)),
    }
}

/// A float with a point: readers of YAML 1.1 recognize no others as floats.
fn float_text(value: &Value) -> String {
    let text = python_json(value);
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// Words that some versions of YAML do not read as strings.
const TAKEN: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// A string, unquoted if it is a word that every version of YAML reads as a string.
pub(super) fn scalar(string: &str) -> String {
    let begins = string.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    let taken = TAKEN.iter().any(|word| string.eq_ignore_ascii_case(word));
    if begins && string.chars().all(is_part) && !taken {
        string.to_owned()
    } else {
        quoted(string)
    }
}

/// A string in double quotes, with all characters outside ASCII escaped. JSON's surrogate pairs would be two characters in
/// YAML, so YAML's own escapes are used.
fn quoted(string: &str) -> String {
    let mut text = "\"".to_owned();
    for c in string.chars() {
        let _ = match c {
            '"' | '\\' => write!(text, "\\{c}"),
            '\n' => write!(text, "\\n"),
            '\t' => write!(text, "\\t"),
            ' '..='~' => write!(text, "{c}"),
            '\0'..='\u{ff}' => write!(text, "\\x{:02x}", u32::from(c)),
            '\0'..='\u{ffff}' => write!(text, "\\u{:04x}", u32::from(c)),
            _ => write!(text, "\\U{:08x}", u32::from(c)),
        };
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::{parse, scalar, write_map};
    use bloscpack_error::Category;
    use serde_json::{Value, json};

    fn read(text: &str) -> Value {
        parse(text.as_bytes()).unwrap()
    }

    fn written(value: &Value) -> String {
        let mut text = String::new();
        write_map(&mut text, value.as_object().unwrap(), 0);
        text
    }

    fn refused(text: &str) -> (Category, String) {
        let error = parse(text.as_bytes()).unwrap_err();
        (error.category(), error.to_string())
    }

    #[test]
    fn layouts_of_all_kinds_are_read() {
        let expected = json!({"a": {"b": [1, "x y"], "c": "l1\nl2\n"}, "d": [{"e": null}, []]});
        let texts = [
            "a:\n  b: [1, x y]\n  c: |\n    l1\n    l2\nd:\n- e:\n- []\n",
            "# comment\n---\na: {b: [1, 'x y'], c: \"l1\\nl2\\n\"} # more\nd: [{e: ~}, []]\n...\n",
            "{\"a\": {\"b\": [1, \"x y\"], \"c\": \"l1\\nl2\\n\"}, \"d\": [{\"e\": null}, []]}",
        ];
        for text in texts {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    /// From the core schema of YAML 1.2.2, 10.3.2.
    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let facts = [
            ("", json!(null)),
            ("~", json!(null)),
            ("NULL", json!(null)),
            ("nULL", json!("nULL")),
            ("true", json!(true)),
            ("False", json!(false)),
            ("yes", json!("yes")),
            ("0", json!(0)),
            ("-19", json!(-19)),
            ("+12", json!(12)),
            ("017", json!(17)),
            ("0o14", json!(12)),
            ("0xFF", json!(255)),
            ("0x", json!("0x")),
            ("-0x1", json!("-0x1")),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("1.", json!(1.0)),
            ("-0.0", json!(-0.0)),
            (".5", json!(0.5)),
            ("+12e03", json!(12e3)),
            ("-2E+05", json!(-2e5)),
            (".", json!(".")),
            ("1e", json!("1e")),
            ("1_000", json!("1_000")),
            ("1.2.3", json!("1.2.3")),
            (".inf", json!("Infinity")),
            ("-.INF", json!("-Infinity")),
            (".nan", json!("NaN")),
            ("1e999", json!("Infinity")),
            ("inf", json!("inf")),
            ("nan", json!("nan")),
            ("2016-03-09", json!("2016-03-09")),
            ("(30, 20)", json!("(30, 20)")),
            ("'1'", json!("1")),
            ("\"true\"", json!("true")),
        ];
        for (text, expected) in facts {
            assert_eq!(
                read(&format!("a: {text}\n")),
                json!({"a": expected}),
                "{text}"
            );
        }
        assert_eq!(
            read("1: a\nyes: b\n~: c\n"),
            json!({"1": "a", "yes": "b", "~": "c"})
        );
    }

    /// Nothing is ever repeated, so that a short text cannot ask for a long value.
    #[test]
    fn a_billion_laughs_are_refused_at_the_first() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let laughs = vec![format!("*a{}", level - 1); 9].join(", ");
            text += &format!("a{level}: &a{level} [{laughs}]\n");
        }
        assert_eq!(
            refused(&text),
            (
                Category::Unsupported,
                "unsupported YAML: an anchor (line 1, column 9)".to_owned()
            )
        );
        for text in [
            "a: *b\n",
            "a: &b 1\n",
            "a: !!binary aGk=\n",
            "a: !x {}\n",
            "<<: {a: 1}\n",
            "? [a]\n: 1\n",
            "? {a: 1}\n: 1\n",
            "a: 1\n---\nb: 2\n",
        ] {
            assert_ne!(refused(text).0, Category::CutShort, "{text}");
        }
    }

    #[test]
    fn nesting_length_and_number_are_bounded() {
        let maps: String = (0..300).map(|depth| format!("{:depth$}a:\n", "")).collect();
        let texts = [
            "[".repeat(1 << 20),
            "{a: ".repeat(1 << 18),
            maps,
            "- ".repeat(1 << 20),
            format!("[{}1]", "1,".repeat(1 << 21)),
            format!("a: {}", "x".repeat(17 << 20)),
        ];
        for text in texts {
            assert!(
                parse(text.as_bytes()).is_err(),
                "{}",
                text.get(..20).unwrap()
            );
        }
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(126).as_bytes()).is_ok());
        assert_eq!(refused(&nested(128)).0, Category::OverLimit);
    }

    #[test]
    fn errors_have_a_position() {
        let (category, what) = refused("a: 1\nb: [1, 2\nc: 3\n");
        assert_eq!(category, Category::Damaged);
        assert!(what.contains("line 3"), "{what}");
        assert_eq!(
            refused("a: 1\na: 2\n"),
            (
                Category::Damaged,
                "\"a\" (line 2, column 1) occurs twice".to_owned()
            )
        );
        for text in [
            "a: b: c\n",
            "a\n  b: 1\n",
            "\"abc",
            "a: 1\n\tb: 2\n",
            "\0",
            "a: \"\\q\"\n",
        ] {
            assert_eq!(refused(text).0, Category::Damaged, "{text}");
        }
        assert_eq!(
            parse(b"a: \xff\n").unwrap_err().category(),
            Category::Damaged
        );
        for text in ["", "\n", "# nothing\n"] {
            assert_eq!(refused(text).0, Category::CutShort, "{text}");
        }
    }

    /// PyYAML 6.0.3, which reads YAML 1.1, gave each string back.
    #[test]
    fn strings_are_quoted_where_they_could_mean_something_else() {
        for plain in ["float32", "blosclz", "col.sub", "_u", "a-b", "x/y", "e5"] {
            assert_eq!(scalar(plain), plain);
        }
        let facts = [
            ("", r#""""#),
            ("yes", r#""yes""#),
            ("No", r#""No""#),
            ("NULL", r#""NULL""#),
            ("1", r#""1""#),
            ("-", r#""-""#),
            (">i4", r#"">i4""#),
            ("|S10", r#""|S10""#),
            ("a b", r#""a b""#),
            ("a: b", r#""a: b""#),
            ("#x", r##""#x""##),
            ("é€", r#""\xe9\u20ac""#),
            ("\u{1f600}", r#""\U0001f600""#),
            ("\"\\\n\t\0\u{7f}", r#""\"\\\n\t\x00\x7f""#),
            (".5", r#"".5""#),
            ("a\u{2028}", r#""a\u2028""#),
            ("2016-03-09", r#""2016-03-09""#),
            ("0x10", r#""0x10""#),
        ];
        for (string, expected) in facts {
            assert_eq!(scalar(string), expected);
            assert_eq!(read(&format!("a: {expected}\n")), json!({"a": string}));
        }
    }

    #[test]
    fn values_survive_a_round_trip() {
        let value = json!({
            "temperature": {"value": 23.5, "type": "scalar", "dtype": "float32"},
            "ids": {"value": [1, 3, 6, 10], "type": "array", "dtype": "int32"},
            "numbers": [0, -1, u64::MAX, i64::MIN, 1e16, 1e-5, -0.0, 1.5e300, 5e-324],
            "empty": {"list": [], "map": {}, "string": "", "null": null},
            "deep": {"a b": {"c": {"no": [[true, false], {"x": "y: z", "1": [{}]}]}}},
            "text": "l1\nl2 \u{e9}\u{1f600} \u{85} \u{feff}",
        });
        assert_eq!(read(&written(&value)), value);
        assert!(written(&value).contains("[0, -1, 18446744073709551615, -9223372036854775808, 1.0e+16, 1.0e-05, -0.0, 1.5e+300, 5.0e-324]"));
    }
}
