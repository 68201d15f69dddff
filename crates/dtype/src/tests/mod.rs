//! Tests of types against NumPy's answers, and of types that NumPy refuses.

mod chance;
mod elements;
mod spelling;
mod table;
mod unsound;
mod values;
