//! Errors of the library as exceptions of `bloscpack.errors`.

use bloscpack::error::Side;
use bloscpack::{Category, Code, Error};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;

/// The exception for an error of the library. If a Python file object caused the error, its own exception.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    let facts = facts(py, &error);
    let io = match (error.code(), error.into_io_error()) {
        (Code::Io, Ok(error)) => error,
        _ => {
            return facts
                .and_then(|facts| exception(py, &facts))
                .unwrap_or_else(|error| error);
        }
    };
    let number = io.raw_os_error();
    match io.downcast::<PyErr>() {
        Ok(cause) => cause,
        Err(_) => facts
            .and_then(|facts| {
                facts.set_item("errno", number)?;
                exception(py, &facts)
            })
            .unwrap_or_else(|error| error),
    }
}

fn exception(py: Python<'_>, facts: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    let errors = py.import("bloscpack.errors")?;
    let value = errors.call_method1("of_facts", (facts,))?;
    Ok(PyErr::from_value(value))
}

fn facts<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("message", error.to_string())?;
    facts.set_item("code", error.code().as_str())?;
    facts.set_item("category", category_name(error.category()))?;
    facts.set_item("hint", error.hint())?;
    facts.set_item("path", error.path().map(|path| path.as_os_str()))?;
    facts.set_item("side", error.side().map(side_name))?;
    facts.set_item("limit", error.limit().map(|limit| limit.to_string()))?;
    let position = error.position();
    facts.set_item("byte", position.map(|position| position.byte))?;
    facts.set_item("member", position.map(|position| position.member))?;
    facts.set_item("chunk", position.and_then(|position| position.chunk))?;
    facts.set_item(
        "section",
        position.map(|position| position.section.to_string()),
    )?;
    if let Some(error) = error.io_error() {
        facts.set_item("io", format!("{:?}", error.kind()))?;
    }
    Ok(facts)
}

fn category_name(category: Category) -> &'static str {
    match category {
        Category::Usage => "usage",
        Category::Damaged => "damaged",
        Category::CutShort => "cut short",
        Category::Unsupported => "unsupported",
        Category::OverLimit => "over limit",
        Category::Committed => "committed",
        _ => "failed",
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Source => "source",
        Side::Target => "target",
    }
}

/// Results of the library as results of pyo3.
pub trait OrRaise<T> {
    /// The value, or the exception for the error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, error.into()))
    }
}

/// An error of usage.
pub fn usage<T>(py: Python<'_>, message: impl Into<Cow<'static, str>>) -> PyResult<T> {
    Err(raised(py, Error::usage(message)))
}
