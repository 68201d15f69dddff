//! Reports how many tests of the run had no input to work on. It is not a test: cargo runs the programs of this
//! package last, and this one after the others. `tests/run.sh` repeats the report after the examples in the
//! documentation, which cargo runs later still.

fn main() {
    // Tools that only ask for the names of tests get none.
    let is_run = std::env::args().all(|argument| argument != "--list");
    if is_run {
        println!("\n{}", testkit::idle::report());
    }
}
