//! [`Summary`]: a report on an input, for scripts and for people.

use super::Kind;
use bloscpack_error::Result;
use bloscpack_wire::internal::json;
use serde_core::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// A report on an input, without its content: the fields of a JSON object, and lines for people.
///
/// It implements [`Serialize`]. Metadata and attributes are written as they are in the file, with all digits of their
/// numbers; only `NaN` and the infinities, which JSON does not have, become `null`.
///
/// ```
/// use bloscpack::open::{OpenOptions, open_source};
/// let file = bloscpack::compress(&[7; 5000])?;
/// let summary = open_source(file, &OpenOptions::new())?.summary()?;
/// let json: serde_json::Value = serde_json::to_value(&summary)?;
/// assert_eq!(json["kind"], "bloscpack");
/// assert_eq!(json["uncompressed_bytes"], 5000);
/// assert_eq!(json["members"][0]["chunks"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Summary {
    kind: Kind,
    pub(super) is_complete: bool,
    fields: Vec<(String, Field)>,
    /// Lines for people.
    pub(super) lines: Vec<Line>,
}

/// The members of a Bloscpack file.
///
/// However many there are, they take little memory: more than a thousand are read again for each use, if the input can be
/// read at any position.
///
/// ```
/// use bloscpack::{compress, open::{OpenOptions, open_source}};
/// let both = [compress(b"one")?, compress(b"two, three")?].concat();
/// let summary = open_source(both, &OpenOptions::new())?.summary()?;
/// let members = summary.members().ok_or("one member")?;
/// assert_eq!(members.count(), 2);
/// let mut lens = Vec::new();
/// members.for_each(|member| lens.extend(member.get("uncompressed_bytes").cloned()))?;
/// assert_eq!(lens, [3, 10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Members {
    count: u64,
    each: Box<ForEach>,
}

/// Passes a summary of each member to its argument.
type ForEach = dyn Fn(&mut dyn FnMut(Summary)) -> Result<()> + Send + Sync;

impl Members {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Passes a summary of each member to `take`, in order.
    ///
    /// # Errors
    /// Returns errors of the source, which may be read again, and of its structure if it has changed.
    pub fn for_each(&self, mut take: impl FnMut(Summary)) -> Result<()> {
        (self.each)(&mut take)
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

/// The value of a field.
#[derive(Debug)]
enum Field {
    Value(Value),
    /// JSON as it is in a file.
    Text(Box<RawValue>),
    #[cfg(feature = "datasets")]
    Parts(Vec<Summary>),
    Members(Members),
}

/// A line of a [`Summary`] for people. Texts from files are as they are: escape what a terminal would interpret.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// A label and its value.
    Fact(&'static str, String),
    /// A label and a JSON text as it is in the file, where Python may have written `NaN`.
    Json(&'static str, String),
    /// A line that belongs to the one before.
    More(String),
}

impl Summary {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            is_complete: true,
            fields: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// The kind of input.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether everything that its writer announced is present.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The lines for people: those of the only member, or those about all members together.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The value of a field, unless it is JSON from a file or consists of summaries.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find_map(|(name, field)| match field {
            Field::Value(value) if name == key => Some(value),
            _ => None,
        })
    }

    /// The members of a Bloscpack file that is several files after each other; `None` for everything else.
    #[must_use]
    pub fn members(&self) -> Option<&Members> {
        self.fields.iter().find_map(|(_, field)| match field {
            Field::Members(members) if members.count() > 1 => Some(members),
            _ => None,
        })
    }

    /// Puts a field before all others.
    pub fn prepend(&mut self, key: &str, value: impl Into<Value>) {
        self.fields
            .insert(0, (key.to_owned(), Field::Value(value.into())));
    }

    /// Adds a field, or all fields of an object.
    pub(super) fn add(&mut self, fields: Value) {
        if let Value::Object(fields) = fields {
            let fields = fields
                .into_iter()
                .map(|(key, value)| (key, Field::Value(value)));
            self.fields.extend(fields);
        }
    }

    /// Adds a field at the end.
    pub fn append(&mut self, key: &str, value: impl Into<Value>) {
        self.fields
            .push((key.to_owned(), Field::Value(value.into())));
    }

    /// Adds JSON as it is in a file.
    pub(super) fn add_json(&mut self, key: &str, text: &str) {
        let json = json::plain(text).ok();
        let json = json.and_then(|json| RawValue::from_string(json).ok());
        let field = json.map_or_else(|| Field::Value(text.into()), Field::Text);
        self.fields.push((key.to_owned(), field));
    }

    /// Adds summaries of parts.
    #[cfg(feature = "datasets")]
    pub(super) fn add_parts(&mut self, key: &str, parts: Vec<Self>) {
        self.fields.push((key.to_owned(), Field::Parts(parts)));
    }

    /// Adds the members, which `each` passes to its argument.
    pub(super) fn add_members(
        &mut self,
        count: u64,
        each: impl Fn(&mut dyn FnMut(Self)) -> Result<()> + Send + Sync + 'static,
    ) {
        let each = Box::new(each);
        let members = Field::Members(Members { count, each });
        self.fields.push(("members".to_owned(), members));
    }

    /// Adds all fields of another summary.
    pub(super) fn extend(&mut self, other: Self) {
        self.fields.extend(other.fields);
    }

    /// Adds a line.
    pub(super) fn line(&mut self, label: &'static str, value: impl fmt::Display) {
        self.lines.push(Line::Fact(label, value.to_string()));
    }

    /// Adds a line of names.
    pub(super) fn names(&mut self, label: &'static str, names: &[&str]) {
        self.line(label, super::text::list(names));
    }

    /// Adds lines of both sizes of the content, and of their ratio.
    pub(super) fn sizes(&mut self, uncompressed: u64, compressed: u64) {
        self.line("uncompressed", super::text::pretty(uncompressed));
        self.line("compressed", super::text::pretty(compressed));
        if let Some(hundredths) = (u128::from(uncompressed) * 100).checked_div(compressed.into()) {
            let (whole, rest) = (hundredths / 100, hundredths % 100);
            self.line("ratio", format_args!("{whole}.{rest:02}"));
        }
    }

    /// Adds a line for each note.
    #[cfg(any(feature = "datasets", feature = "frames"))]
    pub(super) fn notes(&mut self, notes: &[String]) {
        for note in notes {
            self.line("note", note);
        }
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (key, field) in &self.fields {
            map.serialize_entry(key, field)?;
        }
        map.end()
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Text(json) => json.serialize(serializer),
            #[cfg(feature = "datasets")]
            Self::Parts(parts) => parts.serialize(serializer),
            Self::Members(members) => {
                let mut list = serializer.serialize_seq(None)?;
                let mut failed = None;
                let walked = members.for_each(|summary| {
                    if failed.is_none() {
                        failed = list.serialize_element(&summary).err();
                    }
                });
                match (failed, walked) {
                    (Some(error), _) => Err(error),
                    (None, Err(error)) => Err(serde_core::ser::Error::custom(error)),
                    (None, Ok(())) => list.end(),
                }
            }
        }
    }
}

/// The names, each once.
pub(super) fn distinct(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}
