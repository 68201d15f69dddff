//! Anything into a file of another format, or into records.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use bloscpack::records::RecordWriter;
use bloscpack_open::{
    Selection,
    exchange::{Format, write_jsonl},
    internal::size,
};

use super::Convert;
use crate::container::Opened;
use crate::dataset::source::ProgressSource;
use crate::failure::{About as _, Failure};
use crate::output::{MadeFrom, Replaces, Target};
use crate::session::Session;

macro_rules! write_records {
    ($writer:expr, $rows:expr) => {
        (|| -> bloscpack::Result<()> {
            let mut writer = $writer?;
            let lines = Lines::new(|line| writer.push(line));
            write_jsonl(&mut $rows, lines, &mut |_| ())?;
            writer.finish()?;
            Ok(())
        })()
    };
}

impl Convert {
    /// Makes a file of another format, and returns its name and size.
    pub(super) fn exchange(
        &self,
        opened: &mut Opened,
        format: Format,
        session: &Session,
    ) -> Result<String, Failure> {
        let paths = (self.path(), self.output());
        let (_, made) = write(opened, &self.selection(), format, paths, session)?;
        Ok(made)
    }
}

impl Convert {
    /// Makes a file of records: the JSON of each row.
    pub(super) fn records(&self, opened: &Opened, session: &Session) -> Result<String, Failure> {
        let mut source = self.rows(&*opened.container).about(&opened.origin)?;
        let mut rows = ProgressSource::new(&mut *source, session);
        let origin = MadeFrom::Path(self.path());
        let mut output = Target::file(self.output(), Replaces::Compressed, origin, session)?;
        let builder = RecordWriter::builder()
            .small()
            .dtype("varchar")
            .limits(session.write_limits())
            .threads(session.threads);
        let done = match output.seekable() {
            Some(file) => write_records!(builder.write_to_file(file), rows),
            None => write_records!(builder.write_to(&mut output), rows),
        };
        done.about(&output.made_from(&opened.origin))?;
        let made = output.commit(session)?;
        Ok(format!("{}, {},", made.name, size::pretty(made.length)))
    }
}

/// Passes each line on, without its end.
struct Lines<F> {
    line: Vec<u8>,
    take: F,
}

impl<F: FnMut(&[u8]) -> bloscpack::Result<()>> Lines<F> {
    fn new(take: F) -> Self {
        Self {
            line: Vec::new(),
            take,
        }
    }
}

impl<F: FnMut(&[u8]) -> bloscpack::Result<()>> Write for Lines<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.line.extend_from_slice(end);
                    (self.take)(&self.line)?;
                    self.line.clear();
                }
                None => self.line.extend_from_slice(part),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the selected part as a file of another format. Returns the rows, and the name and size of the file.
pub fn write(
    opened: &mut Opened,
    selection: &Selection,
    format: Format,
    (path, output): (&Path, &Path),
    session: &Session,
) -> Result<(u64, String), Failure> {
    // Nothing is begun for a selection that does not exist.
    let checked = opened.container.columns(selection).map(|_| ());
    opened.warn(session);
    checked.about(&opened.origin)?;
    let origin = if opened.is_bloscpack() {
        opened.input.as_ref().into()
    } else {
        MadeFrom::Path(path)
    };
    let mut output = Target::file(output, Replaces::Plain, origin, session)?;
    let mut to = BufWriter::new(&mut output);
    let done = opened.container.export(selection, format, &mut to);
    let done = done.and_then(|rows| Ok(to.flush().map(|()| rows)?));
    // After an error, the buffer is not written again.
    drop(to.into_parts());
    opened.progress.finish();
    let rows = done.about(&output.made_from(&opened.origin))?;
    let made = output.commit(session)?;
    Ok((
        rows,
        format!("{}, {},", made.name, size::pretty(made.length)),
    ))
}
