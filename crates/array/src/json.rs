//! JSON objects in small files: parsed without building their values, with errors that say where; and as Python writes them.

mod error;
mod object;
mod python;

pub use error::{TextPosition, empty, shown, too_long, unknown_name, wrong_value};
pub use object::{Field, Object};
pub use python::{python_json, write_string};
