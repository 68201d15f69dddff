//! Python's literals, as far as `repr` of a NumPy dtype writes them. Nothing is ever evaluated.

use std::iter::Peekable;
use std::str::Chars;

/// Nesting that no array has, and that the stack still bears.
const MAX_DEPTH: usize = 32;

/// A literal. Lists and tuples are the same here, since JSON, in which old files have them, knows
/// only one of them.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A string.
    Text(String),
    /// A non-negative integer.
    Whole(u64),
    /// `True` or `False`.
    Truth(bool),
    /// `None`.
    Nothing,
    /// A list or a tuple.
    Sequence(Vec<Self>),
    /// Keys and values as they stand there; of a key that occurs twice the last counts.
    Map(Vec<(String, Self)>),
}

impl Literal {
    /// Reads one literal, and nothing behind it. Nothing is ever evaluated.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text.chars().peekable(),
        };
        let literal = parser.value(MAX_DEPTH)?;
        match parser.peek() {
            None => Ok(literal),
            Some(other) => Err(format!("{other:?} behind the end of a Python literal")),
        }
    }

    /// The value of a key, if this is a map that has it.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(members) = self else {
            return None;
        };
        let mut from_behind = members.iter().rev();
        let found = from_behind.find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// What JSON has instead: strings, whole numbers and lists.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, String> {
        Self::from_nested_json(value, MAX_DEPTH)
    }

    fn from_nested_json(value: &serde_json::Value, depth: usize) -> Result<Self, String> {
        if let Some(text) = value.as_str() {
            return Ok(Self::Text(text.to_owned()));
        }
        if let Some(whole) = value.as_u64() {
            return Ok(Self::Whole(whole));
        }
        let items = value
            .as_array()
            .ok_or_else(|| format!("{value} where a string, a list or a whole number should be"))?;
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let items = items.iter().map(|item| Self::from_nested_json(item, depth));
        items.collect::<Result<_, _>>().map(Self::Sequence)
    }
}

fn too_deep() -> String {
    format!("nested deeper than {MAX_DEPTH}")
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    /// The next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(char::is_ascii_whitespace).is_some() {}
        self.rest.peek().copied()
    }

    fn value(&mut self, depth: usize) -> Result<Literal, String> {
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        match self.peek() {
            // How Python 2 spells strings that are not bytes.
            Some('u') => {
                self.rest.next();
                self.string()
            }
            Some('\'' | '"') => self.string(),
            Some('[') => self.list(depth),
            Some('(') => self.tuple(depth),
            Some('{') => self.map(depth),
            Some('0'..='9') => self.whole(),
            Some('A'..='Z') => self.constant(),
            Some(other) => Err(format!("{other:?} where a Python literal should begin")),
            None => Err("it ends where a Python literal should begin".to_owned()),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Literal, String> {
        let (items, _) = self.items(']', depth)?;
        Ok(Literal::Sequence(items))
    }

    /// A tuple, or a value in parentheses, which has no comma behind it.
    fn tuple(&mut self, depth: usize) -> Result<Literal, String> {
        let (mut items, comma) = self.items(')', depth)?;
        match items.pop() {
            Some(only) if items.is_empty() && !comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Literal::Sequence(items))
            }
        }
    }

    /// What stands between brackets, and whether a comma ends it.
    fn items(&mut self, close: char, depth: usize) -> Result<(Vec<Literal>, bool), String> {
        self.rest.next();
        let (mut items, mut comma) = (Vec::new(), true);
        loop {
            match self.peek() {
                Some(found) if found == close => {
                    self.rest.next();
                    return Ok((items, comma));
                }
                Some(',') if !comma => {
                    self.rest.next();
                    comma = true;
                }
                Some(_) if comma => {
                    items.push(self.value(depth)?);
                    comma = false;
                }
                Some(other) => return Err(format!("{other:?} where ',' or {close:?} should be")),
                None => return Err(format!("it ends without {close:?}")),
            }
        }
    }

    /// What stands between braces: keys, which are strings, each with a value.
    fn map(&mut self, depth: usize) -> Result<Literal, String> {
        self.rest.next();
        let (mut members, mut comma) = (Vec::new(), true);
        loop {
            match self.peek() {
                Some('}') => {
                    self.rest.next();
                    return Ok(Literal::Map(members));
                }
                Some(',') if !comma => {
                    self.rest.next();
                    comma = true;
                }
                Some(_) if comma => {
                    members.push(self.member(depth)?);
                    comma = false;
                }
                Some(other) => return Err(format!("{other:?} where ',' or '}}' should be")),
                None => return Err("it ends without '}'".to_owned()),
            }
        }
    }

    fn member(&mut self, depth: usize) -> Result<(String, Literal), String> {
        let Literal::Text(key) = self.value(depth)? else {
            return Err("a key that is no string".to_owned());
        };
        match self.peek() {
            Some(':') => self.rest.next(),
            _ => return Err(format!("no ':' behind the key {key:?}")),
        };
        Ok((key, self.value(depth)?))
    }

    fn constant(&mut self) -> Result<Literal, String> {
        let mut word = String::new();
        while let Some(letter) = self.rest.next_if(char::is_ascii_alphanumeric) {
            word.push(letter);
        }
        match word.as_str() {
            "True" => Ok(Literal::Truth(true)),
            "False" => Ok(Literal::Truth(false)),
            "None" => Ok(Literal::Nothing),
            _ => Err(format!("the word {word} where a Python literal should be")),
        }
    }

    fn whole(&mut self) -> Result<Literal, String> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        // How Python 2 spells some integers.
        self.rest.next_if_eq(&'L');
        let whole = digits.parse();
        let whole = whole.map_err(|_| format!("the number {digits} is too large"))?;
        Ok(Literal::Whole(whole))
    }

    fn string(&mut self) -> Result<Literal, String> {
        let quote = self.rest.next().filter(|quote| matches!(quote, '\'' | '"'));
        let quote = quote.ok_or("no quote where a string should begin")?;
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(end) if end == quote => return Ok(Literal::Text(text)),
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
                None => return Err(format!("a string ends without {quote}")),
            }
        }
    }

    /// The escapes that `repr` writes, and the other quote.
    fn escape(&mut self) -> Result<char, String> {
        match self.rest.next() {
            Some(same @ ('\\' | '\'' | '"')) => Ok(same),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('x') => self.code(2),
            Some('u') => self.code(4),
            Some('U') => self.code(8),
            Some(other) => Err(format!("unknown escape \\{other} in a string")),
            None => Err("a string ends with a backslash".to_owned()),
        }
    }

    fn code(&mut self, digits: usize) -> Result<char, String> {
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.rest.next().and_then(|digit| digit.to_digit(16));
            let digit = digit.ok_or("an escape in a string has too few digits")?;
            code = code << 4 | digit;
        }
        char::from_u32(code).ok_or_else(|| format!("a string has {code:#x}, which is no character"))
    }
}

#[cfg(test)]
mod tests {
    use super::Literal::{self, Map, Nothing, Sequence, Text, Truth, Whole};

    fn text(text: &str) -> Literal {
        Text(text.to_owned())
    }

    /// Left what Python 3.11 takes, right what `ast.literal_eval` makes of it.
    #[test]
    fn literals_are_what_python_makes_of_them() {
        for (source, expected) in [
            ("'<f8'", text("<f8")),
            ("\"it's\"", text("it's")),
            (r#"'q"\''"#, text("q\"'")),
            (r"'back\\slash\n\r\t'", text("back\\slash\n\r\t")),
            (r"'\x01\u200b\U0001F600Ω'", text("\u{1}\u{200b}\u{1f600}Ω")),
            ("u'a'", text("a")),
            ("()", Sequence(vec![])),
            ("[ ]", Sequence(vec![])),
            ("(2)", Whole(2)),
            ("(2,)", Sequence(vec![Whole(2)])),
            ("[2]", Sequence(vec![Whole(2)])),
            (" ( 2 , 3 ) ", Sequence(vec![Whole(2), Whole(3)])),
            ("(2L, 3L)", Sequence(vec![Whole(2), Whole(3)])),
            (
                "(('t', 'n'),)",
                Sequence(vec![Sequence(vec![text("t"), text("n")])]),
            ),
            ("True", Truth(true)),
            ("[False, None]", Sequence(vec![Truth(false), Nothing])),
            ("{}", Map(vec![])),
            (
                "{'a':1, u'b' : {'c': ()} , }",
                Map(vec![
                    ("a".to_owned(), Whole(1)),
                    (
                        "b".to_owned(),
                        Map(vec![("c".to_owned(), Sequence(vec![]))]),
                    ),
                ]),
            ),
        ] {
            assert_eq!(Literal::parse(source), Ok(expected), "{source}");
        }
    }

    #[test]
    fn what_is_no_literal_is_refused() {
        for source in [
            "",
            "(",
            ")",
            "[1",
            "[1,,2]",
            "[,]",
            "(,)",
            "[1 2]",
            "[1)",
            "'a",
            "'a\"",
            "'a\\",
            r"'\q'",
            r"'\x1'",
            r"'\ud800'",
            r"'\U00110000'",
            "float64",
            "<f8",
            "u",
            "u4",
            "-1",
            "1.5",
            "1 2",
            "'a' 'b'",
            "__import__('os')",
            "[1].pop()",
            "{",
            "{,}",
            "{'a'}",
            "{'a':}",
            "{'a':1 'b':2}",
            "{'a':1,,}",
            "{'a':1]",
            "{1: 2}",
            "{'a', 'b'}",
            "none",
            "Nonesuch",
            "True()",
            "18446744073709551616",
        ] {
            assert!(Literal::parse(source).is_err(), "{source}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Literal::parse(&nested(32)).is_ok());
        for depth in [33, 1 << 20] {
            assert!(
                Literal::parse(&nested(depth))
                    .unwrap_err()
                    .contains("deeper")
            );
            assert!(Literal::parse(&"(".repeat(depth)).is_err());
        }
        let maps = |depth: usize| format!("{}1{}", "{'a':".repeat(depth), "}".repeat(depth));
        assert!(Literal::parse(&maps(31)).is_ok());
        for depth in [32, 1 << 20] {
            assert!(Literal::parse(&maps(depth)).unwrap_err().contains("deeper"));
        }
        let json = |depth| Literal::from_json(&serde_json::from_str(&nested(depth)).unwrap());
        assert!(json(32).is_ok());
        assert!(json(33).unwrap_err().contains("deeper"));
    }

    #[test]
    fn of_a_key_that_occurs_twice_the_last_counts() {
        let map = Literal::parse("{'a': 1, 'b': 2, 'a': 3}").unwrap();
        assert_eq!(map.get("a"), Some(&Whole(3)));
        assert_eq!(map.get("b"), Some(&Whole(2)));
        assert_eq!(map.get("c"), None);
        assert_eq!(Whole(3).get("a"), None);
    }
}
