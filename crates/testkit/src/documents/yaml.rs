//! As much YAML as the proposal for carray shows: maps that are indented by two spaces, lists in
//! brackets, scalars and comments.
//!
//! A scalar that YAML 1.1 and YAML 1.2 interpret differently panics: the writer must quote it, or spell it
//! differently.

use serde_json::{Map, Value};

/// The map that a file holds; an empty file holds an empty one.
pub fn map(text: &str) -> Value {
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "YAML: no newline at the end"
    );
    let lines = text
        .lines()
        .map(without_comment)
        .filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    if lines == ["{}"] {
        return Value::Object(Map::new());
    }
    let (map, after) = block(&lines, 0);
    assert!(after.is_empty(), "YAML: indented otherwise: {:?}", after[0]);
    map
}

/// The lines with at least this indent, as a map, and those after them.
fn block<'a, 'b>(mut lines: &'b [&'a str], indent: usize) -> (Value, &'b [&'a str]) {
    let mut map = Map::new();
    assert!(indent < 200, "YAML: nested too deep");
    while let Some(line) = lines.first() {
        let content = line.trim_start_matches(' ');
        assert!(
            !content.starts_with(['\t', '-']),
            "YAML: not shown: {line:?}"
        );
        let depth = line.len() - content.len();
        if depth < indent {
            break;
        }
        assert_eq!(depth, indent, "YAML: indent of {line:?}");
        let (key, value) = key_and_rest(content);
        lines = &lines[1..];
        let value = if value.is_empty() {
            let nested;
            (nested, lines) = block(lines, indent + 2);
            assert_ne!(
                nested,
                Value::Object(Map::new()),
                "YAML: {line:?} has no value"
            );
            nested
        } else {
            flow(value)
        };
        assert_eq!(map.insert(key, value), None, "YAML: twice: {line:?}");
    }
    (Value::Object(map), lines)
}

/// A hash begins a comment where a blank is before it, outside of quotation marks.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    let mut escaped = false;
    for (at, letter) in line.char_indices() {
        match quote {
            None if letter == '#' && before == ' ' => return line[..at].trim_end(),
            None if "'\"".contains(letter) && " [,".contains(before) => quote = Some(letter),
            // Twice within the marks it is the mark itself.
            None if letter == '\'' && before == '\'' => quote = Some(letter),
            Some('"') if letter == '\\' && !escaped => {
                escaped = true;
                before = letter;
                continue;
            }
            Some(open) if open == letter && !escaped => quote = None,
            _ => {}
        }
        (before, escaped) = (letter, false);
    }
    line.trim_end()
}

fn key_and_rest(content: &str) -> (String, &str) {
    if content.starts_with(['"', '\'']) {
        let (key, rest) = quoted(content);
        let rest = rest.strip_prefix(':');
        let rest = rest.unwrap_or_else(|| panic!("YAML: no colon: {content:?}"));
        return (key, rest.trim());
    }
    let (key, rest) = content
        .split_once(':')
        .unwrap_or_else(|| panic!("YAML: no key: {content:?}"));
    assert!(
        rest.is_empty() || rest.starts_with(' '),
        "YAML: no blank: {content:?}"
    );
    let Value::String(key) = plain(key) else {
        panic!("YAML: a key that is not text: {content:?}");
    };
    (key, rest.trim())
}

/// A list or a scalar on one line.
fn flow(text: &str) -> Value {
    if text == "{}" {
        return Value::Object(Map::new());
    }
    if text.starts_with('(') {
        return Value::String(text.to_owned());
    }
    let (value, rest) = item(text);
    assert!(rest.trim().is_empty(), "YAML: more after it: {text:?}");
    value
}

/// A list, or a scalar that ends where a list's separator would.
fn item(text: &str) -> (Value, &str) {
    if let Some(inner) = text.strip_prefix('[') {
        assert!(!text.starts_with(&"[".repeat(100)), "YAML: nested too deep");
        return list(inner);
    }
    if text.starts_with(['"', '\'']) {
        let (text, rest) = quoted(text);
        return (Value::String(text), rest);
    }
    let end = text.find([',', ']']).unwrap_or(text.len());
    (plain(text[..end].trim_end()), &text[end..])
}

fn list(mut rest: &str) -> (Value, &str) {
    let mut values = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(']') {
            return (Value::Array(values), after);
        }
        let value;
        (value, rest) = item(rest);
        values.push(value);
        rest = rest.trim_start();
        let more = rest.strip_prefix(',');
        assert!(
            more.is_some() || rest.starts_with(']'),
            "YAML: list: {rest:?}"
        );
        rest = more.unwrap_or(rest);
    }
}

/// Text in quotation marks, and the text after it.
fn quoted(text: &str) -> (String, &str) {
    if let Some(inner) = text.strip_prefix('\'') {
        let mut unquoted = String::new();
        let mut rest = inner;
        loop {
            let (before, after) = rest
                .split_once('\'')
                .unwrap_or_else(|| panic!("YAML: {text:?}"));
            unquoted += before;
            let Some(more) = after.strip_prefix('\'') else {
                return (unquoted, after);
            };
            unquoted.push('\'');
            rest = more;
        }
    }
    let (mut end, bytes) = (1, text.as_bytes());
    while bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let (string, rest) = text.split_at(end + 1);
    // JSON strings are valid YAML, too, which has two more kinds of escapes.
    let unquoted = serde_json::from_str(&without_long_escapes(string));
    let unquoted = unquoted.unwrap_or_else(|error| panic!("YAML: {text:?}: {error}"));
    (unquoted, rest)
}

/// With the characters that are meant by `\xe9` and `\U0001f600`.
fn without_long_escapes(string: &str) -> String {
    let (mut whole, mut rest) = (String::new(), string);
    while let Some((before, after)) = rest.split_once('\\') {
        whole += before;
        let digits = match after.as_bytes()[0] {
            b'x' => 2,
            b'U' => 8,
            _ => {
                whole.push('\\');
                whole += &after[..1];
                rest = &after[1..];
                continue;
            }
        };
        let number = u32::from_str_radix(&after[1..=digits], 16).unwrap();
        let escaped: String = std::char::from_u32(number).unwrap().into();
        let escaped = serde_json::to_string(&escaped).unwrap();
        whole += escaped.trim_matches('"');
        rest = &after[digits + 1..];
    }
    whole + rest
}

/// A scalar without quotation marks.
fn plain(text: &str) -> Value {
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "null" => return Value::Null,
        ".nan" => return "NaN".into(),
        ".inf" => return "Infinity".into(),
        "-.inf" => return "-Infinity".into(),
        _ => {}
    }
    if let Ok(number @ Value::Number(_)) = serde_json::from_str(text) {
        let signed = text.split_once(['e', 'E']).is_none_or(|(mantissa, power)| {
            mantissa.contains('.') && power.starts_with(['+', '-'])
        });
        assert!(signed, "YAML: {text} is text in YAML 1.1");
        return number;
    }
    assert!(is_text(text), "YAML: {text:?} has to be in quotation marks");
    Value::String(text.to_owned())
}

/// Whether all versions of YAML take it for text.
fn is_text(text: &str) -> bool {
    let truths = [
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "",
    ];
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let marked = text.starts_with(|c: char| "!&*?|>@`%{}[],\"'#:=<-".contains(c));
    let inside = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    let blanks = text.trim() != text || text.contains(|c: char| c.is_control());
    let flow = text.contains(['[', ']', '{', '}', ',']);
    !(truths.contains(&text.to_lowercase().as_str())
        || numeric
        || marked
        || inside
        || blanks
        || flow)
}
