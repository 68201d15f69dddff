//! Whose fault it is.

use bloscpack::Error;

use super::split::Halt;
use crate::command::decompress;
use crate::input::Input;
use crate::message::Failure;
use crate::output::Output;
use crate::status::Status;

/// Why records could not be read.
pub fn reading(error: &Error, input: &Input, output: &Output) -> Failure {
    let failure = decompress::blame(error, input, output);
    if error.is_unended() && !output.has_failed() {
        return failure.hint("blpk records unpack --allow-unterminated takes what is there");
    }
    failure
}

/// What to do with a file whose chunks are no records.
pub const CONTENT: &str = "it has no records: blpk decompress and blpk cat read it";

/// Why plain bytes could not be taken apart into records.
pub fn splitting(halt: &Halt, name: &str) -> Failure {
    match halt {
        Halt::Read(error) => Failure::io(name, error),
        Halt::TooLong { .. } => Failure::new(Status::Unsupported, format!("{name}: {halt}"))
            .hint("the format has room for 2 GiB less 37 bytes, if --limit chunk=SIZE allows them"),
        Halt::Cut { .. } => Failure::new(Status::CutShort, format!("{name}: {halt}")),
    }
}
