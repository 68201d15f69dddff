//! [`Summary`]: a report on an input, as JSON and as lines of text.

use super::Kind;
use bloscpack_wire::internal::json;
use serde_core::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// The JSON field that lists the members of a file.
pub(crate) const MEMBERS: &str = "members";

/// A report on an input without its content: the fields of a JSON object for scripts, and lines of text for users.
///
/// It implements [`Serialize`]. Metadata and attributes are written in their file's spelling, with all digits of their numbers;
/// only `NaN` and the infinities, which JSON lacks, become `null`.
///
/// ```
/// use bloscpack_open::{Options, open_source};
/// let file = bloscpack::compress(&[7; 5000])?;
/// let summary = open_source(file, &Options::new())?.summary()?;
/// let json: serde_json::Value = serde_json::to_value(&summary)?;
/// assert_eq!(json["kind"], "bloscpack");
/// assert_eq!(json["uncompressed_bytes"], 5000);
/// assert_eq!(json["members"][0]["chunks"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Summary {
    kind: Kind,
    pub(crate) is_complete: bool,
    fields: Vec<(String, Field)>,
    pub(crate) lines: Vec<Line>,
}

/// The value of a field.
#[derive(Debug)]
enum Field {
    /// A value that was made for the summary.
    Value(Value),
    /// JSON in the spelling of a file.
    Text(Box<RawValue>),
    /// The summaries of members or columns.
    Parts(Vec<Summary>),
}

/// A line of text of a [`Summary`]. Texts from files are not escaped: do that before you print them to a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// A label and its value.
    Fact(&'static str, String),
    /// A label and a JSON text in the spelling of a file, in which Python may have written `NaN`.
    Json(&'static str, String),
    /// A continuation of the line before.
    More(String),
}

/// The size in place of one that is unknown.
const UNLISTED: &str = "unknown: the store has no listing";

impl Summary {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            is_complete: true,
            fields: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// The kind of the input.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether everything that the writer announced is present. False for a file whose writer did not finish, and for a dataset
    /// with missing superchunks.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The lines of text: about the only member, or about all members together.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The value of a field. `None` for JSON from a file, and for a list of summaries.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find_map(|(name, field)| match field {
            Field::Value(value) if name == key => Some(value),
            _ => None,
        })
    }

    /// The summaries of the members, if several Bloscpack files are concatenated; otherwise empty. Also empty after
    /// [`summary_with`](super::Container::summary_with), which passes them on.
    ///
    /// ```
    /// use bloscpack::compress;
    /// use bloscpack_open::{Options, open_source};
    /// let both = [compress(b"one")?, compress(b"two, three")?].concat();
    /// let summary = open_source(both, &Options::new())?.summary()?;
    /// let members = summary.members();
    /// assert_eq!(members.len(), 2);
    /// assert_eq!(members[1].get("uncompressed_bytes"), Some(&10.into()));
    /// # Ok::<(), bloscpack::Error>(())
    /// ```
    #[must_use]
    pub fn members(&self) -> &[Self] {
        let members = self.fields.iter().find_map(|(key, field)| match field {
            Field::Parts(members) if key == MEMBERS => Some(members.as_slice()),
            _ => None,
        });
        members.filter(|members| members.len() > 1).unwrap_or(&[])
    }

    /// The summary as JSON with these members in place of its own, for members that
    /// [`summary_with`](super::Container::summary_with) has passed on.
    ///
    /// ```
    /// use bloscpack_open::{Options, open_source};
    /// let mut file = open_source(bloscpack::compress(b"one")?, &Options::new())?;
    /// let mut sizes = Vec::new();
    /// let summary = file.summary_with(&mut |member| {
    ///     sizes.extend(member.get("uncompressed_bytes").cloned());
    ///     Ok(())
    /// })?;
    /// let json: serde_json::Value = serde_json::to_value(summary.with_members(sizes))?;
    /// assert_eq!(json["members"][0], 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_members(&self, members: impl Serialize) -> impl Serialize {
        WithMembers(self, Some(members))
    }

    /// Adds a field before all others.
    pub fn prepend(&mut self, key: &str, value: impl Into<Value>) {
        self.fields
            .insert(0, (key.to_owned(), Field::Value(value.into())));
    }

    /// Adds all fields of a JSON object.
    pub(crate) fn add(&mut self, fields: Value) {
        if let Value::Object(fields) = fields {
            let fields = fields
                .into_iter()
                .map(|(key, value)| (key, Field::Value(value)));
            self.fields.extend(fields);
        }
    }

    /// Adds a field after all others.
    pub fn append(&mut self, key: &str, value: impl Into<Value>) {
        self.fields
            .push((key.to_owned(), Field::Value(value.into())));
    }

    /// Adds JSON in the spelling of a file.
    pub(crate) fn add_json(&mut self, key: &str, text: &str) {
        let json = json::plain(text).ok();
        let json = json.and_then(|json| RawValue::from_string(json).ok());
        let field = json.map_or_else(|| Field::Value(text.into()), Field::Text);
        self.fields.push((key.to_owned(), field));
    }

    /// Adds a list of summaries.
    pub(crate) fn add_parts(&mut self, key: &str, parts: Vec<Self>) {
        self.fields.push((key.to_owned(), Field::Parts(parts)));
    }

    /// Replaces the list of members.
    pub(crate) fn set_members(&mut self, members: Vec<Self>) {
        let field = self.fields.iter_mut().find(|(key, _)| key == MEMBERS);
        if let Some((_, field)) = field {
            *field = Field::Parts(members);
        }
    }

    /// Adds all fields of another summary.
    pub(crate) fn extend(&mut self, other: Self) {
        self.fields.extend(other.fields);
    }

    pub(crate) fn line(&mut self, label: &'static str, value: impl fmt::Display) {
        self.lines.push(Line::Fact(label, value.to_string()));
    }

    /// Adds the user's attributes, JSON in the spelling of the file, as a line if there are any.
    pub(crate) fn attributes(&mut self, text: &str) {
        if text != "{}" {
            self.lines.push(Line::Json("attributes", text.to_owned()));
        }
    }

    /// Adds a line with a list of names.
    pub(crate) fn names(&mut self, label: &'static str, names: &[&str]) {
        self.line(label, super::text::list(names));
    }

    /// Adds lines with both sizes of the content and their ratio.
    pub(crate) fn sizes(&mut self, uncompressed: u64, compressed: Option<u64>) {
        self.line("uncompressed_bytes", super::text::pretty(uncompressed));
        let Some(compressed) = compressed else {
            self.line("compressed_bytes", UNLISTED);
            return;
        };
        self.line("compressed_bytes", super::text::pretty(compressed));
        if let Some(hundredths) = (u128::from(uncompressed) * 100).checked_div(compressed.into()) {
            let (whole, rest) = (hundredths / 100, hundredths % 100);
            self.line("ratio", format_args!("{whole}.{rest:02}"));
        }
    }

    /// Adds a line for each note.
    pub(crate) fn notes(&mut self, notes: &[String]) {
        for note in notes {
            self.line("note", note);
        }
    }
}

/// A summary, optionally with other members.
struct WithMembers<'a, T>(&'a Summary, Option<T>);

impl<T: Serialize> Serialize for WithMembers<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.fields.len()))?;
        for (key, field) in &self.0.fields {
            match (field, &self.1) {
                (_, Some(members)) if key == MEMBERS => map.serialize_entry(key, members)?,
                (Field::Value(value), _) => map.serialize_entry(key, value)?,
                (Field::Text(json), _) => map.serialize_entry(key, json)?,
                (Field::Parts(parts), _) => map.serialize_entry(key, parts)?,
            }
        }
        map.end()
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WithMembers(self, None::<()>).serialize(serializer)
    }
}

/// The names sorted, each once.
pub(crate) fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}
