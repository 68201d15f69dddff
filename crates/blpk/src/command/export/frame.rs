//! `blpk export` of the arrays in Blosc2 frames.

use std::io::Write as _;
use std::ops::Range;

use bloscpack::{
    DType, Error,
    dtype::npy::NpyHeader,
    exchange::{Format, NdSource},
    frame::NdArray,
};

use super::Export;
use crate::dataset::new::{file_permissions, refuse_within};
use crate::dataset::read;
use crate::dataset::selection::Selection;
use crate::dataset::slice::Box;
use crate::elements::Elements;
use crate::frame::{array, dtype, failure};
use crate::input;
use crate::message::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;

impl Export {
    /// Writes the array in a frame, or a box of it.
    pub(super) fn frame(
        &self,
        selection: &Selection<'_>,
        format: Format,
        session: &Session,
    ) -> Result<Status, Failure> {
        let name = input::name(&self.path);
        if !self.columns.is_empty() {
            return Err(Failure::usage(format!("{name} is no table")));
        }
        refuse_within(&self.output, &self.path)?;
        let array = array(&self.path, session)?;
        let wanted = selection.wanted(array.shape(), &name)?;
        let dtype = dtype(&array, self.dtype.as_ref(), &self.path, session)?;
        let like = file_permissions(&self.path);
        let output = Output::create_like(&self.output, &[], like, session)?;
        match format {
            Format::Npy | Format::Bytes => {
                let header = self.header(format, &dtype, &wanted)?;
                self.elements(&array, &wanted, &header, output, session)
            }
            _ => {
                let source = NdSource::new(&array).dtype(dtype);
                let source = source.and_then(|source| source.slice(&wanted.ranges));
                let mut source = source.map_err(|error| failure(&self.path, &error))?;
                self.write(&mut source, format, output, session)
            }
        }
    }

    /// What stands before the elements.
    fn header(&self, format: Format, dtype: &DType, wanted: &Box) -> Result<Vec<u8>, Failure> {
        if format != Format::Npy {
            return Ok(Vec::new());
        }
        let lens = wanted.ranges.iter().map(|range| range.end - range.start);
        let header = NpyHeader {
            dtype: dtype.clone(),
            fortran_order: false,
            shape: lens.collect(),
        };
        let name = input::name(&self.path);
        header
            .encode()
            .map_err(|error| Failure::usage(format!("{name}: {error}")))
    }

    /// Writes elements in C order, however long a row is.
    fn elements(
        &self,
        array: &NdArray,
        wanted: &Box,
        header: &[u8],
        mut output: Output,
        session: &Session,
    ) -> Result<Status, Failure> {
        let itemsize = array.itemsize().into();
        let progress = Progress::new(session, Some(wanted.bytes(itemsize)));
        let write = |output: &mut Output, bytes: &[u8]| {
            progress.advance(u64::try_from(bytes.len()).unwrap_or(0));
            let done = output.write_all(bytes);
            done.map_err(|error| output.explain(Failure::io(output.name(), &error)))
        };
        write(&mut output, header)?;
        let failed = |error: Error| failure(&self.path, &error);
        let mut copy = |part: &[Range<u64>]| {
            let bytes = array.read_slice(part);
            let bytes = bytes.map_err(|error| output.explain(failed(error)))?;
            write(&mut output, &bytes)
        };
        read::in_parts(
            &wanted.ranges,
            itemsize,
            &Elements::chunk_shape(array),
            &mut copy,
        )?;
        progress.finish();
        output.commit()?;
        Ok(Status::Done)
    }
}
