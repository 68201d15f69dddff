//! [`Literal`]: the Python literals that `repr` of a NumPy dtype and `.npy` headers contain. They are parsed, never evaluated.

use crate::DTypeError;
use crate::excerpt::excerpt;
use std::iter::Peekable;
use std::str::Chars;

/// Levels of nesting: more than any header needs, and few enough for recursion.
const MAX_DEPTH: usize = 32;

/// A Python literal. Lists and tuples are one variant, because old files contain dtypes as JSON, which has lists only.
///
/// ```
/// use bloscpack_dtype::literal::Literal;
///
/// let literal = Literal::parse("{'shape': (3,), 'fortran_order': False}")?;
/// assert_eq!(literal.get("shape"), Some(&Literal::Sequence(vec![Literal::Whole(3)])));
/// assert!(Literal::parse("[1].pop()").is_err());
/// # Ok::<(), bloscpack_dtype::DTypeError>(())
/// ```
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
    /// A dictionary with string keys, in the order of the text. A key may occur twice; the last value counts.
    Map(Vec<(String, Self)>),
}

impl Literal {
    /// Parses a text that consists of one literal, with ASCII white space around its tokens.
    ///
    /// Accepts strings (also `u'...'` of Python 2), non-negative integers (also `10L`), `True`, `False`, `None`, lists, tuples
    /// and dictionaries with string keys. The result may take fifty times as much memory as the text: limit the text first.
    ///
    /// # Errors
    /// Fails if the text is not such a literal, is nested deeper than 32 levels, or has an integer of more than 64 bits.
    pub fn parse(text: &str) -> Result<Self, DTypeError> {
        let mut parser = Parser {
            rest: text.chars().peekable(),
        };
        let literal = parser.value(MAX_DEPTH)?;
        match parser.peek() {
            None => Ok(literal),
            Some(found) => Err(unexpected(found, "its end")),
        }
    }

    /// The last value of a key; `None` without the key, and for other variants than `Map`.
    pub fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(members) = self else {
            return None;
        };
        let mut from_the_end = members.iter().rev();
        let found = from_the_end.find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// Converts a JSON string, non-negative integer or list.
    ///
    /// # Errors
    /// Fails for any other value, and if lists are nested deeper than 32 levels.
    pub fn from_json(value: &serde_json::Value) -> Result<Self, DTypeError> {
        Self::from_nested_json(value, MAX_DEPTH)
    }

    fn from_nested_json(value: &serde_json::Value, depth: usize) -> Result<Self, DTypeError> {
        if let Some(text) = value.as_str() {
            return Ok(Self::Text(text.to_owned()));
        }
        if let Some(whole) = value.as_u64() {
            return Ok(Self::Whole(whole));
        }
        let items = value.as_array().ok_or_else(|| {
            DTypeError::new(format!(
                "{} in JSON, expected a string, a list or a non-negative integer",
                excerpt(&value.to_string())
            ))
        })?;
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let items = items.iter().map(|item| Self::from_nested_json(item, depth));
        items.collect::<Result<_, _>>().map(Self::Sequence)
    }
}

fn too_deep() -> DTypeError {
    DTypeError::new(format!(
        "Python literal nested deeper than {MAX_DEPTH} levels"
    ))
}

/// The error for a character that is not expected, or for the end of the text (`None`).
fn unexpected(found: impl Into<Option<char>>, expected: &str) -> DTypeError {
    match found.into() {
        Some(found) => DTypeError::new(format!(
            "{found:?} in a Python literal, expected {expected}"
        )),
        None => DTypeError::new(format!("Python literal ends without {expected}")),
    }
}

const COMMA_OR_BRACKET: &str = "',' or a closing bracket";

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Parser<'_> {
    /// The next character that is not white space. It is not consumed.
    fn peek(&mut self) -> Option<char> {
        while self.rest.next_if(char::is_ascii_whitespace).is_some() {}
        self.rest.peek().copied()
    }

    fn value(&mut self, depth: usize) -> Result<Literal, DTypeError> {
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        match self.peek() {
            // A Unicode string of Python 2: `u'...'`.
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
            found => Err(unexpected(found, "a value")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Literal, DTypeError> {
        let (items, _) = self.items(']', depth)?;
        Ok(Literal::Sequence(items))
    }

    /// A tuple, or a single value in parentheses if no comma follows it.
    fn tuple(&mut self, depth: usize) -> Result<Literal, DTypeError> {
        let (mut items, comma) = self.items(')', depth)?;
        match items.pop() {
            Some(only) if items.is_empty() && !comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Literal::Sequence(items))
            }
        }
    }

    /// The values between brackets, and whether a comma follows the last one.
    fn items(&mut self, close: char, depth: usize) -> Result<(Vec<Literal>, bool), DTypeError> {
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
                found => return Err(unexpected(found, COMMA_OR_BRACKET)),
            }
        }
    }

    /// The keys and values between braces.
    fn map(&mut self, depth: usize) -> Result<Literal, DTypeError> {
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
                found => return Err(unexpected(found, COMMA_OR_BRACKET)),
            }
        }
    }

    fn member(&mut self, depth: usize) -> Result<(String, Literal), DTypeError> {
        let Literal::Text(key) = self.value(depth)? else {
            return Err(DTypeError::new(
                "key in a Python dictionary is not a string",
            ));
        };
        match self.peek() {
            Some(':') => self.rest.next(),
            found => return Err(unexpected(found, "':' after a key")),
        };
        Ok((key, self.value(depth)?))
    }

    fn constant(&mut self) -> Result<Literal, DTypeError> {
        let mut word = String::new();
        while let Some(letter) = self.rest.next_if(char::is_ascii_alphanumeric) {
            word.push(letter);
        }
        match word.as_str() {
            "True" => Ok(Literal::Truth(true)),
            "False" => Ok(Literal::Truth(false)),
            "None" => Ok(Literal::Nothing),
            _ => Err(DTypeError::not(&word, "a Python literal")),
        }
    }

    fn whole(&mut self) -> Result<Literal, DTypeError> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        // A long integer of Python 2: `10L`.
        self.rest.next_if_eq(&'L');
        let whole = digits.parse().map_err(|_| {
            let digits = excerpt(&digits);
            DTypeError::new(format!("integer {digits} in a Python literal is too large"))
        })?;
        Ok(Literal::Whole(whole))
    }

    fn string(&mut self) -> Result<Literal, DTypeError> {
        let quote = match self.rest.next() {
            Some(quote @ ('\'' | '"')) => quote,
            found => return Err(unexpected(found, "a string")),
        };
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(end) if end == quote => return Ok(Literal::Text(text)),
                Some('\\') => text.push(self.escape()?),
                Some(other) => text.push(other),
                None => return Err(unexpected(None, "the quote at the end of a string")),
            }
        }
    }

    /// The escape sequences that `repr` writes, and both quotes.
    fn escape(&mut self) -> Result<char, DTypeError> {
        match self.rest.next() {
            Some(same @ ('\\' | '\'' | '"')) => Ok(same),
            Some('n') => Ok('\n'),
            Some('r') => Ok('\r'),
            Some('t') => Ok('\t'),
            Some('x') => self.code(2),
            Some('u') => self.code(4),
            Some('U') => self.code(8),
            Some(escape) => Err(DTypeError::new(format!(
                "unknown escape \\{escape} in a Python string"
            ))),
            None => Err(unexpected(None, "an escaped character")),
        }
    }

    fn code(&mut self, digits: usize) -> Result<char, DTypeError> {
        let mut code = 0_u32;
        for _ in 0..digits {
            let found = self.rest.next();
            let digit = found.and_then(|digit| digit.to_digit(16));
            let digit = digit.ok_or_else(|| unexpected(found, "a hexadecimal digit"))?;
            code = code << 4 | digit;
        }
        char::from_u32(code).ok_or_else(|| {
            DTypeError::new(format!("{code:#x} in a Python string is not a character"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Literal::{self, Map, Nothing, Sequence, Text, Truth, Whole};

    fn text(text: &str) -> Literal {
        Text(text.to_owned())
    }

    /// Texts, and the values that `ast.literal_eval` of Python 3.11 makes of them.
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
    fn texts_that_are_not_literals_are_refused() {
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
        const TOO_DEEP: &str = "Python literal nested deeper than 32 levels";
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Literal::parse(&nested(32)).is_ok());
        for depth in [33, 1 << 20] {
            assert_eq!(
                Literal::parse(&nested(depth)).unwrap_err().to_string(),
                TOO_DEEP
            );
            assert!(Literal::parse(&"(".repeat(depth)).is_err());
        }
        let maps = |depth: usize| format!("{}1{}", "{'a':".repeat(depth), "}".repeat(depth));
        assert!(Literal::parse(&maps(31)).is_ok());
        for depth in [32, 1 << 20] {
            assert_eq!(
                Literal::parse(&maps(depth)).unwrap_err().to_string(),
                TOO_DEEP
            );
        }
        let json = |depth| Literal::from_json(&serde_json::from_str(&nested(depth)).unwrap());
        assert!(json(32).is_ok());
        assert_eq!(json(33).unwrap_err().to_string(), TOO_DEEP);
    }

    #[test]
    fn if_a_key_occurs_twice_the_last_value_counts() {
        let map = Literal::parse("{'a': 1, 'b': 2, 'a': 3}").unwrap();
        assert_eq!(map.get("a"), Some(&Whole(3)));
        assert_eq!(map.get("b"), Some(&Whole(2)));
        assert_eq!(map.get("c"), None);
        assert_eq!(Whole(3).get("a"), None);
    }
}
