//! Writes files of other programs, and Bloscpack files with records.

use std::io::{self, BufWriter, Write};

use bloscpack::records::RecordWriter;
use bloscpack_error::Result;
use bloscpack_open::exchange::{Format, write_jsonl};

use crate::{Made, Output, Work};

macro_rules! write_records {
    ($writer:expr, $rows:expr) => {{
        let mut writer = $writer?;
        let lines = Lines::new(|line| writer.push(line));
        write_jsonl($rows, lines, &mut |_| ())?;
        writer.finish()?;
    }};
}

impl Work<'_> {
    /// Writes a file of another program.
    pub(crate) fn exchange(&self, format: Format, output: Output<'_>) -> Result<Made> {
        let mut to = BufWriter::new(output);
        let selection = self.settings.selection();
        let written = self.source.export(&selection, format, &mut to);
        let written = written.and_then(|rows| Ok(to.flush().map(|()| rows)?));
        // After an error, the buffer is not written again.
        drop(to.into_parts());
        Ok(Made {
            rows: written?,
            ..Made::default()
        })
    }

    /// Writes a Bloscpack file of records, each the JSON of a row.
    pub(crate) fn records(&self, output: Output<'_>) -> Result<Made> {
        let mut rows = self.settings.rows(self.source)?;
        let builder = RecordWriter::builder()
            .small()
            .dtype("varchar")
            .limits(self.settings.write_limits())
            .threads(self.settings.options.workers());
        match output {
            Output::Stream(stream) => write_records!(builder.write_to(stream), &mut *rows),
            Output::File(file) => write_records!(builder.write_to_file(file), &mut *rows),
        }
        Ok(Made::default())
    }
}

/// Passes on each line without its line end.
struct Lines<F> {
    line: Vec<u8>,
    take: F,
}

impl<F: FnMut(&[u8]) -> Result<()>> Lines<F> {
    fn new(take: F) -> Self {
        Self {
            line: Vec::new(),
            take,
        }
    }
}

impl<F: FnMut(&[u8]) -> Result<()>> Write for Lines<F> {
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
