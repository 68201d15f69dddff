//! Values as Python writes them: literals, and JSON with numbers that JSON does not have.

use serde_json::{Map, Value};

/// JSON in which numbers may also be `NaN`, `Infinity` and `-Infinity`; they are returned as text.
pub fn json(text: &str) -> Value {
    let mut strict = String::new();
    let (mut inside, mut rest) = (false, text);
    while let Some(first) = rest.chars().next() {
        let token = ["NaN", "Infinity", "-Infinity"].into_iter();
        let token = token.filter(|_| !inside).find(|t| rest.starts_with(t));
        let len = match (first, token) {
            (_, Some(token)) => {
                strict += &format!("\"{token}\"");
                rest = &rest[token.len()..];
                continue;
            }
            ('\\', None) if inside => 1 + rest[1..].chars().next().unwrap().len_utf8(),
            ('"', None) => {
                inside = !inside;
                1
            }
            _ => first.len_utf8(),
        };
        strict += &rest[..len];
        rest = &rest[len..];
    }
    let value = serde_json::from_str(&strict);
    value.unwrap_or_else(|error| panic!("JSON: {error}: {text}"))
}

/// A literal of text, numbers, `True`, `False`, `None`, tuples, lists and dictionaries.
pub fn literal(text: &str) -> Value {
    let (rest, depth) = (text, 0);
    let mut literal = Literal { text, rest, depth };
    let value = literal.value();
    literal.skip_blanks();
    assert!(literal.rest.is_empty(), "Python: more after it: {text}");
    value
}

struct Literal<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
}

impl Literal<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n']);
    }

    fn takes(&mut self, mark: char) -> bool {
        self.skip_blanks();
        let after = self.rest.strip_prefix(mark);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self) -> Value {
        self.skip_blanks();
        self.depth += 1;
        assert!(self.depth < 100, "Python: nested too deep");
        let value = match self.rest.chars().next() {
            Some('(') => self.list('(', ')'),
            Some('[') => self.list('[', ']'),
            Some('{') => self.dictionary(),
            Some(quote @ ('\'' | '"')) => Value::String(self.quoted(quote)),
            _ => self.word(),
        };
        self.depth -= 1;
        value
    }

    /// A tuple of one needs a comma: `(5,)`.
    fn list(&mut self, open: char, close: char) -> Value {
        assert!(self.takes(open));
        let mut values = Vec::new();
        let mut commas = 0;
        while !self.takes(close) {
            assert_eq!(commas, values.len(), "Python: no comma: {}", self.text);
            values.push(self.value());
            commas += usize::from(self.takes(','));
        }
        let tuple = open == '(';
        assert!(!tuple || commas > 0 || values.is_empty(), "no tuple");
        Value::Array(values)
    }

    fn dictionary(&mut self) -> Value {
        assert!(self.takes('{'));
        let mut values = Map::new();
        while !self.takes('}') {
            let Value::String(key) = self.value() else {
                panic!("Python: a key is no text: {}", self.text);
            };
            assert!(self.takes(':'), "Python: no colon: {}", self.text);
            let value = self.value();
            assert_eq!(values.insert(key, value), None, "twice: {}", self.text);
            self.takes(',');
        }
        Value::Object(values)
    }

    fn quoted(&mut self, quote: char) -> String {
        let inner = &self.rest[1..];
        let end = inner.find(quote);
        let end = end.unwrap_or_else(|| panic!("Python: no end of text: {}", self.text));
        assert!(!inner[..end].contains('\\'), "escapes are not read");
        self.rest = &inner[end + 1..];
        inner[..end].to_owned()
    }

    fn word(&mut self) -> Value {
        let end = self.rest.find([',', ')', ']', '}', ' ', ':']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        match word {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "None" => Value::Null,
            number => serde_json::from_str(number)
                .unwrap_or_else(|_| panic!("Python: {number:?} in {}", self.text)),
        }
    }
}
