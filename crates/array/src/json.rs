//! JSON objects in small files: parsed without building a tree, with errors that name line and column; and written as Python
//! does.

mod error;
mod object;
mod python;

pub use error::{TextPosition, empty, shown, too_long, unknown_name, wrong_value};
pub use object::{Field, Object};
pub use python::{python_json, write_string};
