//! Inputs of any kind, opened by the library.

use std::path::Path;
use std::sync::Arc;

use bloscpack::{Category, storage::ReadAt};
use bloscpack_open::{
    Container, Family, Kind, Options,
    exchange::{Format, ImportOptions},
    open_file, open_folder, open_source, open_stream, probe_source,
};

use crate::dataset::source::Imported;
use crate::failure::{About as _, Directory, Failure, RECOVER, Subject, VERIFY};
use crate::input::{Input, is_directory};
use crate::progress::{Progress, options};
use crate::remote;
use crate::session::Session;
use crate::text::{is_url, quoted};

/// Details that a file of another format does not contain.
#[derive(Default)]
pub struct Reading {
    /// Its format, if neither its name nor its bytes tell.
    pub format: Option<Format>,
    pub options: ImportOptions,
    /// Whether a folder of datasets may be opened as well.
    pub is_tree_wanted: bool,
}

impl Reading {
    /// The format of a file; `None` for files of the Bloscpack family.
    fn format_of(&self, path: &Path, source: &impl ReadAt) -> bloscpack::Result<Option<Format>> {
        if self.format.is_some() {
            return Ok(self.format);
        }
        let named = Format::of_path(path).filter(|format| format.is_read());
        Ok(match probe_source(source)?.family {
            Some(Family::File(format)) => Some(format),
            Some(Family::Archive) => named.filter(|format| *format == Format::Npz),
            // Text is recognized by its name only.
            None => named,
            _ => None,
        })
    }
}

/// An input of any kind.
pub struct Opened {
    pub container: Box<dyn Container>,
    pub origin: Origin,
    /// `None` for directories, and for inputs with several objects.
    pub input: Option<Input>,
    pub progress: Progress,
}

/// The origin of an input, for messages.
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

impl Opened {
    /// Opens the input at `path`, and prints warnings.
    pub fn open(path: &Path, session: &Session) -> Result<Self, Failure> {
        Self::open_with(path, session, |options| options)
    }

    /// The same with more options.
    pub fn open_with(
        path: &Path,
        session: &Session,
        more: impl FnOnce(Options) -> Options,
    ) -> Result<Self, Failure> {
        Self::open_reading(path, &Reading::default(), session, more)
    }

    /// The same, with details for a file of another format.
    pub fn open_reading(
        path: &Path,
        reading: &Reading,
        session: &Session,
        more: impl FnOnce(Options) -> Options,
    ) -> Result<Self, Failure> {
        let (options, progress) = options(session);
        let options = more(options);
        let mut opened = if is_url(path) {
            match remote::find(path, &options, session)? {
                remote::Found::Folder(container) => Self::of_folder(path, container, progress),
                remote::Found::Object(object) => {
                    let input = Input::of_object(path, object)?;
                    Self::file(path, input, reading, &options, progress, session)?
                }
            }
        } else if is_directory(path)? {
            let opened = if reading.is_tree_wanted {
                Self::of_any_directory(path, &options, progress)
            } else {
                Self::of_directory(path, &options, progress)
            };
            opened.about(&Directory(path))?
        } else {
            let input = Input::open_binary(path, session)?;
            Self::file(path, input, reading, &options, progress, session)?
        };
        opened.warn(session);
        Ok(opened)
    }

    /// Opens a directory without a cache, to read each part once.
    pub fn directory(path: &Path, session: &Session) -> bloscpack::Result<Self> {
        let (options, progress) = options(session);
        Self::of_directory(path, &options.cache(0), progress)
    }

    fn of_directory(path: &Path, options: &Options, progress: Progress) -> bloscpack::Result<Self> {
        let container = bloscpack_open::open(path, options)?;
        Ok(Self::of_folder(path, container, progress))
    }

    /// Opens a directory, which may be a folder of datasets.
    fn of_any_directory(
        path: &Path,
        options: &Options,
        progress: Progress,
    ) -> bloscpack::Result<Self> {
        match bloscpack_open::open(path, options) {
            Err(error) if error.category() == Category::Unsupported && path.is_dir() => {
                let folder = open_folder(path, options)?.ok_or(error)?;
                Ok(Self::of_folder(path, folder, progress))
            }
            opened => Ok(Self::of_folder(path, opened?, progress)),
        }
    }

    fn of_folder(path: &Path, container: Box<dyn Container>, progress: Progress) -> Self {
        Self {
            origin: Origin::new(quoted(path), &*container),
            container,
            input: None,
            progress,
        }
    }

    fn file(
        path: &Path,
        mut input: Input,
        reading: &Reading,
        options: &Options,
        progress: Progress,
        session: &Session,
    ) -> Result<Self, Failure> {
        let name = input.name();
        if reading.format.is_some() {
            // Other formats need reads at any position.
            input = input.whole(session)?;
        }
        let container = match input.source(None).map(Arc::new) {
            Some(source) => match reading.format_of(path, &source).about(&name)? {
                Some(format) => {
                    let opened = open_file(source, format, &reading.options, options);
                    let opened = opened.about(&Imported::new(path, format))?;
                    return Ok(Self {
                        origin: Origin::new(name, &*opened),
                        container: opened,
                        input: Some(input),
                        progress,
                    });
                }
                None => open_source(source, options),
            },
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

    /// Prints the new warnings.
    pub fn warn(&mut self, session: &Session) {
        session.warnings(&self.origin.name, &self.container.take_warnings());
    }

    /// Ends the work: removes the progress bar, prints the warnings, and moves standard input to its end for other processes
    /// that share it.
    pub fn finish(&mut self, session: &Session) {
        self.progress.finish();
        self.warn(session);
        if let Some(input) = &self.input {
            // An error would only affect the shared position; reading has its own result.
            let _ = input.seek_to_end();
        }
    }

    pub fn is_bloscpack(&self) -> bool {
        is_bloscpack(&*self.container)
    }
}
