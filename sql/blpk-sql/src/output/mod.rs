//! [`Output`]: the destination and the format of a result.

mod ctable;
mod table;

use crate::args::{Args, Format};
use crate::failure::Failure;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::writer::FileWriter;
use arrow::json::LineDelimitedWriter;
use datafusion::parquet::arrow::ArrowWriter;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// A result that is being written.
pub struct Output {
    form: Form,
    /// The file under its temporary name.
    file: Option<Unfinished>,
    schema: SchemaRef,
    is_empty: bool,
}

enum Form {
    Table(table::Table),
    Csv(Box<arrow::csv::Writer<Target>>),
    Jsonl(LineDelimitedWriter<Target>),
    Arrow(Box<FileWriter<Target>>),
    Parquet(Box<ArrowWriter<Target>>),
    Ctable(Box<ctable::Ctable>),
}

type Target = BufWriter<Box<dyn Write + Send>>;

/// A file that gets its final name when it is complete.
struct Unfinished {
    temporary: NamedTempFile,
    path: PathBuf,
    may_replace: bool,
}

impl Output {
    /// An output for rows of this schema. Only the last statement's result goes to a file.
    pub fn new(args: &Args, is_last: bool, schema: SchemaRef) -> Result<Self, Failure> {
        let path = args.output.as_deref().filter(|_| is_last);
        let path = path.filter(|path| *path != Path::new("-"));
        let format = args.form()?;
        if format == Format::Ctable {
            let path = path.ok_or_else(|| Failure::usage("a ctable needs -o DIRECTORY"))?;
            let form = Form::Ctable(Box::new(ctable::Ctable::new(path, args.force, &schema)?));
            return Ok(Self::of(form, None, schema));
        }
        let file = path
            .map(|path| Unfinished::new(path, args.force))
            .transpose()?;
        let target: Box<dyn Write + Send> = match &file {
            Some(file) => Box::new(file.temporary.reopen()?),
            None => Box::new(io::stdout()),
        };
        let target = BufWriter::new(target);
        let form = match format {
            Format::Table => Form::Table(table::Table::new(target, file.is_none())),
            Format::Csv | Format::Tsv => {
                let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
                let writer = arrow::csv::WriterBuilder::new().with_delimiter(delimiter);
                Form::Csv(Box::new(writer.build(target)))
            }
            Format::Jsonl => Form::Jsonl(LineDelimitedWriter::new(target)),
            Format::Arrow => Form::Arrow(Box::new(
                FileWriter::try_new(target, &schema).map_err(arrow_failed)?,
            )),
            Format::Parquet | Format::Ctable => {
                let writer = ArrowWriter::try_new(target, SchemaRef::clone(&schema), None);
                Form::Parquet(Box::new(
                    writer.map_err(|error| Failure::failed(error.to_string()))?,
                ))
            }
        };
        Ok(Self::of(form, file, schema))
    }

    fn of(form: Form, file: Option<Unfinished>, schema: SchemaRef) -> Self {
        Self {
            form,
            file,
            schema,
            is_empty: true,
        }
    }

    /// Writes rows. Returns false if no more rows are wanted.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<bool, Failure> {
        self.is_empty = false;
        match &mut self.form {
            Form::Table(table) => return table.write(rows),
            Form::Csv(writer) => writer.write(rows).map_err(arrow_failed)?,
            Form::Jsonl(writer) => writer.write(rows).map_err(arrow_failed)?,
            Form::Arrow(writer) => writer.write(rows).map_err(arrow_failed)?,
            Form::Parquet(writer) => {
                let written = writer.write(rows);
                written.map_err(|error| Failure::failed(error.to_string()))?;
            }
            Form::Ctable(ctable) => ctable.write(rows)?,
        }
        Ok(true)
    }

    /// Writes the remaining rows, and gives the file its final name.
    pub fn finish(mut self) -> Result<(), Failure> {
        if self.is_empty {
            // Without rows, write at least the names of the columns.
            self.write(&RecordBatch::new_empty(SchemaRef::clone(&self.schema)))?;
        }
        match self.form {
            Form::Table(table) => table.finish()?,
            Form::Csv(writer) => writer.into_inner().flush()?,
            Form::Jsonl(mut writer) => {
                writer.finish().map_err(arrow_failed)?;
                writer.into_inner().flush()?;
            }
            Form::Arrow(mut writer) => {
                writer.finish().map_err(arrow_failed)?;
                writer.get_mut().flush()?;
            }
            Form::Parquet(writer) => {
                let target = writer.into_inner();
                target
                    .map_err(|error| Failure::failed(error.to_string()))?
                    .flush()?;
            }
            Form::Ctable(ctable) => return ctable.finish(),
        }
        self.file.map_or(Ok(()), Unfinished::finish)
    }
}

fn arrow_failed(error: arrow::error::ArrowError) -> Failure {
    match error {
        arrow::error::ArrowError::IoError(_, error) => error.into(),
        error => Failure::failed(error.to_string()),
    }
}

impl Unfinished {
    fn new(path: &Path, may_replace: bool) -> Result<Self, Failure> {
        refuse_existing(path, may_replace)?;
        let failed = |error| Failure::failed(format!("'{}': {error}", path.display()));
        let temporary = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(parent(path));
        let temporary = temporary.map_err(failed)?;
        *begun() = Some(temporary.path().to_owned());
        Ok(Self {
            temporary,
            path: path.to_owned(),
            may_replace,
        })
    }

    fn finish(self) -> Result<(), Failure> {
        let failed =
            |error: io::Error| Failure::failed(format!("'{}': {error}", self.path.display()));
        // Give the file the permissions that a new file has here, or those of the file that it replaces.
        let probe = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&self.path);
        let made = match probe {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.may_replace => None,
            Err(error) => return Err(failed(error)),
        };
        let permissions = match &made {
            Some(file) => file.metadata(),
            None => std::fs::metadata(&self.path),
        };
        let file = self.temporary.as_file();
        file.set_permissions(permissions.map_err(failed)?.permissions())
            .map_err(failed)?;
        file.sync_all().map_err(failed)?;
        let renamed = self.temporary.persist(&self.path);
        renamed.map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// The beginning of the names of incomplete outputs.
const TEMPORARY: &str = ".blpk-sql";

/// The folder that contains an output.
fn parent(path: &Path) -> &Path {
    let folder = path.parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The temporary path of the current output.
fn begun() -> MutexGuard<'static, Option<PathBuf>> {
    static BEGUN: Mutex<Option<PathBuf>> = Mutex::new(None);
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the incomplete output, because its task may not get to do so before the process ends.
pub fn discard() {
    if let Some(path) = begun().take() {
        // If it no longer exists, it was renamed or removed.
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_dir_all(&path);
    }
}

/// Refuses to replace an existing file unless this is allowed.
fn refuse_existing(path: &Path, may_replace: bool) -> Result<(), Failure> {
    if path.exists() && !may_replace {
        Err(Failure::usage(format!(
            "'{}' exists; -f replaces it",
            path.display()
        )))
    } else {
        Ok(())
    }
}
