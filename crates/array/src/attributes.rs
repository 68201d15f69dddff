//! [`Attributes`]: the values that users attach to a dataset, in the file `__attrs__` or `meta/attributes`.

use crate::json::{Object, python_json, shown, too_long, write_string};
use bloscpack_error::{Code, Error, Result};
use bloscpack_wire::internal::{Member, Members, json, to_u64, with_value};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The longest file that is read or written, in bytes.
const MAX_LEN: usize = 64 << 20;

/// The user's attributes of a dataset: a JSON object, kept in its writer's spelling.
///
/// Setting or removing one key leaves every other byte unchanged, including the order of the keys and numbers with more digits
/// than a float has. `NaN`, `Infinity` and `-Infinity`, which Python's `json` writes, are accepted. `docs/datasets.md`
/// describes the files.
///
/// ```
/// use bloscpack_array::Attributes;
/// use serde_json::json;
/// let mut attributes = Attributes::parse(b"{\"temp\": 22.5, \"limit\": NaN}\n")?;
/// assert_eq!(attributes.get("temp"), Some(json!(22.5)));
/// assert_eq!(attributes.get_text("limit"), Some("NaN"));
/// attributes.set("city", &json!("Köln"))?;
/// assert!(attributes.remove("temp"));
/// assert_eq!(attributes.encode(), b"{\"limit\": NaN, \"city\": \"K\\u00f6ln\"}\n");
/// # Ok::<(), bloscpack_error::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// An object, without the newline at its end.
    text: String,
}

impl Default for Attributes {
    /// No attributes, as for a dataset without the file.
    fn default() -> Self {
        let text = "{}".to_owned();
        Self { text }
    }
}

impl Attributes {
    /// Parses the content of `__attrs__` or `meta/attributes`, of up to 64 MiB.
    ///
    /// # Errors
    /// Returns [`Code::CutShort`] for an empty or truncated file, whose writer was interrupted, [`Code::Metadata`] for one that
    /// is not a JSON object in UTF-8, and [`Code::OverLimit`] for a longer one.
    pub fn parse(file: &[u8]) -> Result<Self> {
        let text = Object::parse(file, MAX_LEN)?.text();
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        Ok(Self { text })
    }

    /// Makes attributes of a map, in its order.
    ///
    /// ```
    /// use bloscpack_array::Attributes;
    /// use serde_json::{Map, json};
    /// let map = Map::from_iter([("b".to_owned(), json!(1)), ("a".to_owned(), json!([]))]);
    /// assert_eq!(Attributes::of_map(map)?.text(), r#"{"b": 1, "a": []}"#);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::OverLimit`] if the text would be too long (64 MiB) or too deeply nested (128 levels) to be read back.
    pub fn of_map(map: Map<String, Value>) -> Result<Self> {
        let text = python_json(&Value::Object(map));
        check_len(&text)?;
        json::check(text.as_bytes()).map_err(|error| {
            let message = format!("the attributes could not be read again: {error}");
            Error::new(Code::OverLimit, message)
        })?;
        Ok(Self { text })
    }

    /// The value of a key. `NaN` and infinities, which JSON lacks, become strings such as `"NaN"`. `None` if the key does not
    /// exist.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        json::parse(self.get_text(key)?.as_bytes()).ok()
    }

    /// The JSON text of a value in its writer's spelling. If the key occurs several times, the last value counts.
    #[must_use]
    pub fn get_text(&self, key: &str) -> Option<&str> {
        let last = self.members().filter(|member| member.is(key)).last();
        self.text.get(last?.value)
    }

    /// Sets the value of a key, spelled as Python's `json.dumps` does. A new key is added at the end. After an error the
    /// attributes are unchanged.
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for a value that is nested too deeply to be read back, and [`Code::OverLimit`] if the
    /// attributes would reach 64 MiB.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<()> {
        self.set_text(key, &python_json(value))
    }

    /// Sets the value of a key to this JSON text, in which Python's `NaN`, `Infinity` and `-Infinity` may occur. After an error
    /// the attributes are unchanged.
    ///
    /// ```
    /// use bloscpack_array::Attributes;
    /// let mut attributes = Attributes::default();
    /// attributes.set_text("limit", "-Infinity")?;
    /// assert_eq!(attributes.text(), r#"{"limit": -Infinity}"#);
    /// assert!(attributes.set_text("limit", "1, 2").is_err());
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Code::CannotStore`] for text that is not one JSON value or is nested too deeply, and [`Code::OverLimit`] if
    /// the attributes would reach 64 MiB.
    pub fn set_text(&mut self, key: &str, json_text: &str) -> Result<()> {
        let value = json_text.trim_ascii();
        // The object adds one level around the value.
        json::check(value.as_bytes())
            .and_then(|()| json::check(format!("[{value}]").as_bytes()))
            .map_err(|error| {
                let message = format!("the value of \"{}\" is not JSON: {error}", shown(key));
                Error::new(Code::CannotStore, message)
            })?;
        let text = match with_value(&self.text, key, value) {
            Some(text) => text,
            None => self.with_member(key, value)?,
        };
        check_len(&text)?;
        self.text = text;
        Ok(())
    }

    /// The text with one more key at its end.
    fn with_member(&self, key: &str, value: &str) -> Result<String> {
        let open = self.text.trim_ascii_end().strip_suffix('}');
        let open_len = open.map(|open| open.trim_ascii_end().len());
        let (open, end) = open_len
            .and_then(|len| self.text.split_at_checked(len))
            .ok_or_else(|| Error::new(Code::CannotStore, "the attributes are not a JSON object"))?;
        let mut text = open.to_owned();
        if !open.ends_with('{') {
            text.push_str(", ");
        }
        write_string(&mut text, key);
        text.push_str(": ");
        text.push_str(value);
        text.push_str(end);
        Ok(text)
    }

    /// Removes a key, all of its values if it occurs several times. Returns false if the key does not exist.
    pub fn remove(&mut self, key: &str) -> bool {
        let Some(without) = self.without(key) else {
            return false;
        };
        self.text = without;
        true
    }

    /// The text without a key; `None` if the key does not exist. The separators between the remaining keys keep their spelling.
    fn without(&self, key: &str) -> Option<String> {
        let members: Vec<_> = self.members().collect();
        let first = start_of(&self.text, members.first()?)?;
        let mut text = self.text.get(..first)?.to_owned();
        let mut separator: Option<&str> = None;
        let mut kept = 0;
        for (number, member) in members.iter().enumerate() {
            if member.is(key) {
                continue;
            }
            kept += 1;
            text.push_str(separator.unwrap_or(""));
            let start = start_of(&self.text, member)?;
            text.push_str(self.text.get(start..member.value.end)?);
            if let Some(next) = members.get(number + 1) {
                separator = self.text.get(member.value.end..start_of(&self.text, next)?);
            }
        }
        text.push_str(self.text.get(members.last()?.value.end..)?);
        (kept < members.len()).then_some(text)
    }

    /// The keys in the order of the text, each once.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let plain = |member: Member<'_>| serde_json::from_str::<String>(member.key).ok();
        let mut keys: Vec<_> = self.members().filter_map(plain).collect();
        keys.retain(|key| seen.insert(key.clone()));
        keys
    }

    /// The number of distinct keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys().len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members().next().is_none()
    }

    /// All attributes as one JSON object. `NaN` and infinities become strings such as `"NaN"`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // The text was checked when it was parsed or set.
        let value = json::parse(self.text.as_bytes());
        value.unwrap_or_else(|_| Value::Object(Map::new()))
    }

    /// The JSON text of all attributes, without a newline at the end.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The content of the file: the text and a newline.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        format!("{}\n", self.text).into_bytes()
    }

    fn members(&self) -> Members<'_> {
        Members::of(&self.text)
    }
}

fn check_len(text: &str) -> Result<()> {
    if text.len() < MAX_LEN {
        Ok(())
    } else {
        Err(too_long("attributes", to_u64(text.len()), to_u64(MAX_LEN)))
    }
}

/// The position of a member's key in the text.
fn start_of(text: &str, member: &Member<'_>) -> Option<usize> {
    let before = text.get(..member.value.start)?.trim_ascii_end();
    let key = before.strip_suffix(':')?.trim_ascii_end();
    key.len().checked_sub(member.key.len())
}

/// The attribute that holds the axis names, a list of strings: the convention of xarray and Zarr 2.
pub const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The attribute that marks NaN and NaT ("not a time") as missing values: `true` on an array, a list of column names on a
/// table.
pub const MISSING: &str = "bloscpack.missing";

impl Attributes {
    /// A copy without the attribute [`MISSING`].
    #[must_use]
    pub fn without_missing(&self) -> Self {
        let mut others = self.clone();
        others.remove(MISSING);
        others
    }

    /// Whether NaN and NaT represent missing values in the array: [`MISSING`] is `true`.
    #[must_use]
    pub fn has_missing(&self) -> bool {
        self.get(MISSING) == Some(Value::Bool(true))
    }
}

#[cfg(test)]
mod tests {
    use super::Attributes;
    use bloscpack_error::Category;
    use serde_json::{Value, json};

    /// Written by bcolz 1.2.1.
    const REAL: &str = "{\"temp\": 22.5, \"big\": 1152921504606846976, \"neg\": -1.5e-300, \"nested\": {\"lat\": 40.1, \"l\": [1, 2, null, true]}, \"timestamp\": \"2016030915\", \"uni\": \"\\u00e9\\u20ac\"}\n";

    fn parsed(text: &str) -> Attributes {
        Attributes::parse(text.as_bytes()).unwrap()
    }

    fn file(attributes: &Attributes) -> String {
        String::from_utf8(attributes.encode()).unwrap()
    }

    /// The examples of the documents.
    #[test]
    fn documents_examples_are_read() {
        let bcolz = parsed(r#"{"temp": 22.5, "pressure": 999.2, "timestamp": "2016030915"}"#);
        assert_eq!(bcolz.keys(), ["temp", "pressure", "timestamp"]);
        assert_eq!(bcolz.get("pressure"), Some(json!(999.2)));
        let blz = parsed(
            r#"{"temperature": 11.4, "scale": "Celsius", "coords": {"lat": 40.1, "lon": 0.5}}"#,
        );
        assert_eq!(blz.get("coords").unwrap()["lon"], 0.5);
        assert_eq!((blz.len(), blz.get("lat")), (3, None));
    }

    #[test]
    fn text_is_kept_byte_for_byte() {
        for text in ["{}\n", REAL, "{ \"a\" : 1,\n \"a\": 1e400 }\n", "\n{}\n"] {
            assert_eq!(file(&parsed(text)), text);
        }
        assert_eq!(file(&parsed("{}")), "{}\n");
        assert_eq!(file(&Attributes::default()), "{}\n");
    }

    #[test]
    fn new_attributes_are_spelled_as_by_python() {
        let mut attributes = Attributes::default();
        let value: Value = serde_json::from_str(REAL).unwrap();
        for (key, value) in value.as_object().unwrap() {
            attributes.set(key, value).unwrap();
        }
        assert_eq!(file(&attributes), REAL);
        assert_eq!(attributes.to_value(), value);
    }

    #[test]
    fn setting_changes_nothing_else() {
        let mut attributes = parsed("{ \"a\" :1.50,\"b\":  NaN }\n");
        attributes.set("b", &json!([1])).unwrap();
        assert_eq!(file(&attributes), "{ \"a\" :1.50,\"b\":  [1] }\n");
        attributes.set("\"c\u{e9}", &json!(null)).unwrap();
        assert_eq!(
            file(&attributes),
            "{ \"a\" :1.50,\"b\":  [1], \"\\\"c\\u00e9\": null }\n"
        );
        assert_eq!(attributes.get("\"c\u{e9}"), Some(Value::Null));
        attributes.set_text("a", " -Infinity\n").unwrap();
        assert_eq!(attributes.get_text("a"), Some("-Infinity"));
    }

    #[test]
    fn removing_changes_nothing_else() {
        let remove = |text: &str, key: &str| {
            let mut attributes = parsed(text);
            assert!(attributes.remove(key), "{text}");
            assert_eq!(attributes.get(key), None);
            attributes.text().to_owned()
        };
        let text = "{ \"a\":1,  \"b\" : {\"a\": \",}\"} ,\"c\":[3] }";
        assert_eq!(remove(text, "a"), "{ \"b\" : {\"a\": \",}\"} ,\"c\":[3] }");
        assert_eq!(remove(text, "b"), "{ \"a\":1,  \"c\":[3] }");
        assert_eq!(remove(text, "c"), "{ \"a\":1,  \"b\" : {\"a\": \",}\"} }");
        assert_eq!(remove("{\"a\": 1}", "a"), "{}");
        assert_eq!(remove("{\"a\": 1, \"\\u0061\": 2}", "a"), "{}");
        assert_eq!(remove("{\"a\": 1, \"b\": 2, \"a\": 3}", "a"), "{\"b\": 2}");
        let mut attributes = parsed(REAL);
        assert!(!attributes.remove("lat") && !Attributes::default().remove("a"));
        assert_eq!(file(&attributes), REAL);
    }

    #[test]
    fn of_a_key_that_occurs_twice_the_last_value_counts() {
        let mut attributes = parsed("{\"a\": 1, \"b\": 2, \"a\": 3}");
        assert_eq!((attributes.get_text("a"), attributes.len()), (Some("3"), 2));
        assert_eq!(attributes.to_value(), json!({"a": 3, "b": 2}));
        assert_eq!(attributes.keys(), ["a", "b"]);
        attributes.set("a", &json!(4)).unwrap();
        assert_eq!(attributes.to_value(), json!({"a": 4, "b": 2}));
    }

    #[test]
    fn an_empty_file_is_an_error() {
        for text in ["", "\n"] {
            let error = Attributes::parse(text.as_bytes()).unwrap_err();
            assert_eq!(error.category(), Category::CutShort);
        }
        assert_eq!(
            Attributes::parse(b"[]").unwrap_err().category(),
            Category::Damaged
        );
    }

    #[test]
    fn unreadable_attributes_are_not_set() {
        let mut attributes = Attributes::default();
        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        for text in ["", "1, \"b\": 2", "}", "nan", "1]", "[1", "1], [2", &deep] {
            let error = attributes.set_text("a", text).unwrap_err();
            assert_eq!(error.category(), Category::Usage, "{text}");
        }
        let long = format!("\"{}\"", "x".repeat(64 << 20));
        assert_eq!(
            attributes.set_text("a", &long).unwrap_err().category(),
            Category::OverLimit
        );
        assert!(attributes.is_empty());
        let nested = format!("{}{}", "[".repeat(126), "]".repeat(126));
        attributes.set_text("a", &nested).unwrap();
        assert!(Attributes::parse(&attributes.encode()).is_ok());
    }
}
