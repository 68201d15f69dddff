//! [`Spool`]: the items of a report, kept in a temporary file if there are many.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};

use bloscpack::{Error, error::Side};
use serde_core::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value, value::RawValue};
use tempfile::SpooledTempFile;

use crate::failure::Failure;
use crate::output::Printer;
use crate::status::Status;

/// The most bytes kept in memory.
const IN_MEMORY: usize = 1 << 20;

/// Lines of text or JSON objects that are printed when the rest of the report is known.
///
/// It serializes as the list of its objects.
#[derive(Debug)]
pub struct Spool(RefCell<BufWriter<SpooledTempFile>>);

impl Spool {
    pub fn new() -> Self {
        Self(RefCell::new(BufWriter::new(SpooledTempFile::new(
            IN_MEMORY,
        ))))
    }

    pub fn text(&mut self, text: impl Display) -> bloscpack::Result<()> {
        write!(self.0.get_mut(), "{text}").map_err(failed)
    }

    pub fn json(&mut self, object: &impl Serialize) -> bloscpack::Result<()> {
        let text = serde_json::to_string(object).map_err(|error| failed(error.into()))?;
        self.text(format_args!("{text}\n"))
    }

    /// Passes all lines to `take`.
    fn lines<E>(
        &self,
        not_read: impl Fn(io::Error) -> E,
        mut take: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut file = self.0.borrow_mut();
        // Rewinding also writes the buffer.
        file.rewind().map_err(&not_read)?;
        let (mut lines, mut line) = (BufReader::new(file.get_mut()), String::new());
        while lines.read_line(&mut line).map_err(&not_read)? > 0 {
            take(&line)?;
            line.clear();
        }
        Ok(())
    }

    /// Passes each line of text to `take`.
    pub fn each(&self, take: impl FnMut(&str) -> Result<(), Failure>) -> Result<(), Failure> {
        let not_read = |error| Failure::new(Status::Failed, failed(error).to_string());
        self.lines(not_read, take)
    }

    /// Prints its text.
    pub fn print(&self, printer: &mut Printer) -> Result<(), Failure> {
        self.each(|line| printer.text(line))
    }
}

fn failed(error: io::Error) -> Error {
    let text = format!("temporary file for the report: {error}");
    Error::from(io::Error::new(error.kind(), text)).on(Side::Target)
}

impl Serialize for Spool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        self.lines(S::Error::custom, |line| {
            let object: &RawValue = serde_json::from_str(line).map_err(S::Error::custom)?;
            list.serialize_element(object)
        })?;
        list.end()
    }
}

/// An object in which these lists replace the fields of the same names.
pub struct WithLists<'a>(pub Value, pub Vec<(&'static str, &'a Spool)>);

impl Serialize for WithLists<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in self.0.as_object().into_iter().flatten() {
            match self.1.iter().find(|(list, _)| key == list) {
                Some((_, list)) => map.serialize_entry(key, list)?,
                None => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}
