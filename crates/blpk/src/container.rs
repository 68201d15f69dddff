//! Inputs of any kind, opened by the library.

use std::path::Path;

use bloscpack_open::{Container, Kind, Options, open_source, open_stream};

use crate::failure::{About as _, Directory, Failure, RECOVER, Subject, VERIFY};
use crate::input::{Input, is_directory};
use crate::interrupt;
use crate::progress::Progress;
use crate::remote;
use crate::session::Session;
use crate::text::{is_url, quoted};

/// An input of any kind.
pub struct Opened {
    pub container: Box<dyn Container>,
    pub origin: Origin,
    /// `None` for directories, and for what has several objects.
    pub input: Option<Input>,
    pub progress: Progress,
}

/// Where an input comes from, for messages.
pub struct Origin {
    pub name: String,
    /// A hint for the user if the input is damaged.
    advice: Option<&'static str>,
}

impl Origin {
    fn new(name: String, container: &dyn Container) -> Self {
        let advice = if is_bloscpack(container) {
            container.source().map(|_| RECOVER)
        } else {
            Some(VERIFY)
        };
        Self { name, advice }
    }
}

impl Subject for Origin {
    fn explain(&self, failure: Failure) -> Failure {
        let failure = failure.named(&self.name);
        match self.advice {
            Some(advice) => failure.if_damaged(advice),
            None => failure,
        }
    }
}

fn is_bloscpack(container: &dyn Container) -> bool {
    matches!(container.kind(), Kind::Bloscpack | Kind::Records)
}

/// The options by which inputs are opened. Work is shown as progress, and ends once it is asked to stop.
fn options(session: &Session) -> (Options, Progress) {
    let progress = Progress::new(session, None);
    let shown = progress.clone();
    let options = session.array_options().watch(move |bytes, total| {
        interrupt::check()?;
        shown.set_total(total);
        shown.advance(bytes);
        Ok(())
    });
    (options, progress)
}

impl Opened {
    /// Opens what is at `path`, and prints warnings.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        Self::open_with(path, session, |options| options)
    }

    /// The same with more options.
    pub fn open_with(
        path: &Path,
        session: &Session,
        more: impl FnOnce(Options) -> Options,
    ) -> Result<Self, Failure> {
        let (options, progress) = options(session);
        let options = more(options);
        let mut opened = if is_url(path) {
            match remote::find(path, &options, session)? {
                remote::Found::Folder(container) => Self::of_folder(path, container, progress),
                remote::Found::Object(object) => {
                    Self::file(Input::of_object(path, object)?, &options, progress)?
                }
            }
        } else if is_directory(path)? {
            Self::of_directory(path, &options, progress).about(&Directory(path))?
        } else {
            Self::file(Input::open_binary(path, session)?, &options, progress)?
        };
        opened.warn(session);
        Ok(opened)
    }

    /// Opens a directory to look at all of it once.
    pub fn directory(path: &Path, session: &Session) -> bloscpack::Result<Self> {
        let (options, progress) = options(session);
        Self::of_directory(path, &options.cache(0), progress)
    }

    fn of_directory(path: &Path, options: &Options, progress: Progress) -> bloscpack::Result<Self> {
        let container = bloscpack_open::open(path, options)?;
        Ok(Self::of_folder(path, container, progress))
    }

    fn of_folder(path: &Path, container: Box<dyn Container>, progress: Progress) -> Self {
        Self {
            origin: Origin::new(quoted(path), &*container),
            container,
            input: None,
            progress,
        }
    }

    fn file(input: Input, options: &Options, progress: Progress) -> Result<Self, Failure> {
        let name = input.name();
        let container = match input.source(None) {
            Some(source) => open_source(source, options),
            None => open_stream(input.stream().about(&name)?, options),
        };
        let opened = container.about(&name);
        let container = opened.map_err(|failure| failure.if_damaged(VERIFY))?;
        Ok(Self {
            origin: Origin::new(name, &*container),
            container,
            input: Some(input),
            progress,
        })
    }

    /// Prints the warnings that there are now.
    pub fn warn(&mut self, session: &Session) {
        session.warnings(&self.origin.name, &self.container.take_warnings());
    }

    /// Ends the work on it: removes the progress bar, prints the warnings, and moves standard input to its end, for other
    /// processes that share it.
    pub fn finish(&mut self, session: &Session) {
        self.progress.finish();
        self.warn(session);
        if let Some(input) = &self.input {
            // Only a shared position is affected, and reading has succeeded or has its own error.
            let _ = input.seek_to_end();
        }
    }

    /// Whether it is a Bloscpack file.
    pub fn is_bloscpack(&self) -> bool {
        is_bloscpack(&*self.container)
    }
}
