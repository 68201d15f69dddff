//! How a test in Python calls the library.
//!
//! A command is a JSON object on a line of standard input; its `data` contains the lengths of the pieces of raw bytes
//! that follow the line. The answer is such a line, too, with `error` in it if the call failed, followed by `bytes`
//! raw bytes. Unflushed data is dropped at the end of input.

use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, Read, Write, stdin, stdout};
use std::ops::Range;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;
/// The line of the answer, and the bytes that follow it.
pub type Answer = (Value, Vec<u8>);

/// Answers all commands on standard input.
pub fn serve(mut call: impl FnMut(&Value, &[Vec<u8>]) -> Result<Answer>) -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let command: Value = serde_json::from_str(&line)?;
        let mut data = Vec::new();
        for len in list(&command["data"]) {
            let mut piece = vec![0; usize::try_from(count(len)?)?];
            input.read_exact(&mut piece)?;
            data.push(piece);
        }
        let (mut answer, bytes) = match call(&command, &data) {
            Ok(done) => done,
            Err(error) => (json!({ "error": told(error.as_ref()) }), Vec::new()),
        };
        answer["bytes"] = bytes.len().into();
        writeln!(output, "{answer}")?;
        output.write_all(&bytes)?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// The message and the category of an error.
fn told(error: &(dyn Error + 'static)) -> Value {
    let category = error
        .downcast_ref::<bloscpack::Error>()
        .map(|error| format!("{:?}", error.category()));
    json!({ "text": error.to_string(), "category": category })
}

pub fn first(data: &[Vec<u8>]) -> Result<&[u8]> {
    Ok(data.first().ok_or("no data")?)
}

pub fn text(value: &Value) -> Result<&str> {
    Ok(value.as_str().ok_or("a name is missing")?)
}

pub fn count(value: &Value) -> Result<u64> {
    Ok(value.as_u64().ok_or("a count is missing")?)
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn counts(value: &Value) -> Result<Vec<u64>> {
    list(value).iter().map(count).collect()
}

pub fn range(value: &Value) -> Result<Range<u64>> {
    Ok(count(&value[0])?..count(&value[1])?)
}

pub fn ranges(value: &Value) -> Result<Vec<Range<u64>>> {
    list(value).iter().map(range).collect()
}

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn from_hex(digits: &str) -> Result<Vec<u8>> {
    let pair = |at: usize| -> Result<u8> {
        let digits = digits.get(at..at + 2).ok_or("half a byte")?;
        Ok(u8::from_str_radix(digits, 16)?)
    };
    (0..digits.len()).step_by(2).map(pair).collect()
}
