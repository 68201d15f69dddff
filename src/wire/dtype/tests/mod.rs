//! Against what NumPy says of its types, and against what it would not say.

mod spelling;
mod table;
mod unsound;
