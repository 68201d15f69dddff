//! [`Failure`]: a message for the user, and the exit status.

use bloscpack::Category;
use datafusion::error::DataFusionError;
use std::io;
use std::process::ExitCode;

/// The exit statuses, the same as for `blpk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    Done = 0,
    Failed = 1,
    Usage = 2,
    Damaged = 3,
    CutShort = 4,
    Unsupported = 5,
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// A message for the user, and the exit status.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    text: String,
}

impl Failure {
    /// The work failed.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            status: Status::Failed,
            text: text.into(),
        }
    }

    /// The command line is wrong.
    pub fn usage(text: impl Into<String>) -> Self {
        Self {
            status: Status::Usage,
            text: text.into(),
        }
    }

    /// Ctrl-C was pressed.
    pub fn interrupted() -> Self {
        Self {
            status: Status::Interrupted,
            text: String::new(),
        }
    }

    /// Prints the message, and returns the exit status.
    pub fn report(&self) -> ExitCode {
        self.print();
        #[cfg(unix)]
        if self.status == Status::Interrupted {
            // A loop in a shell script stops only if the signal itself ends the process.
            let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGINT);
        }
        self.status.into()
    }

    /// Prints the message.
    pub fn print(&self) {
        if !self.text.is_empty() {
            eprintln!("blpk-sql: error: {}", self.text);
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // The reader of the pipe has stopped reading.
            io::ErrorKind::BrokenPipe => Self::failed(""),
            _ => Self::failed(error.to_string()),
        }
    }
}

impl From<bloscpack::Error> for Failure {
    fn from(error: bloscpack::Error) -> Self {
        Self::of(error.category(), &error.to_string())
    }
}

impl Failure {
    fn of(category: Category, message: &str) -> Self {
        let status = match category {
            Category::Usage => Status::Usage,
            Category::Damaged => Status::Damaged,
            Category::CutShort => Status::CutShort,
            Category::Unsupported | Category::OverLimit => Status::Unsupported,
            _ => Status::Failed,
        };
        let advice = match status {
            Status::Damaged | Status::CutShort => "\n  blpk verify lists all that is damaged",
            _ => "",
        };
        Self {
            status,
            text: format!("{message}{advice}"),
        }
    }
}

impl From<DataFusionError> for Failure {
    fn from(of: DataFusionError) -> Self {
        if let Some((category, message)) = bloscpack_datafusion::failure(&of) {
            return Self::of(category, &message);
        }
        let root = of.find_root();
        let status = match root {
            DataFusionError::SQL(..)
            | DataFusionError::Plan(_)
            | DataFusionError::SchemaError(..)
            | DataFusionError::NotImplemented(_)
            | DataFusionError::Configuration(_) => Status::Usage,
            DataFusionError::IoError(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Self::failed("");
            }
            _ => Status::Failed,
        };
        let advice = match root {
            DataFusionError::ResourcesExhausted(_) => "\n  --memory SIZE raises the limit",
            DataFusionError::Plan(text) if text.ends_with("not found") => {
                "\n  and there is no file or directory of this name"
            }
            _ => "",
        };
        Self {
            status,
            text: format!("{}{advice}", of.strip_backtrace()),
        }
    }
}
