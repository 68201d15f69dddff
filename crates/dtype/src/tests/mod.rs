//! Against what NumPy says of its types, and against what it would not say.

mod chance;
mod elements;
mod spelling;
mod table;
mod unsound;
mod values;
