//! The settings for new chunks: taken from the headers of existing ones, unless the caller has set them.

use super::{Editor, EditorBuilder};
use crate::encoder::{ChunkOptions, DEFAULT_CHUNK_SIZE};
use crate::indexed::IndexedReader;
use blosc1::internal::settings_of;
use blosc1::{ChunkSettings, MAX_NBYTES};
use bloscpack_error::{Error, Result};
use bloscpack_storage::{Folder, ReadAt};
use bloscpack_wire::{FormatError, Limit};
use bytes::Bytes;

/// The number of last chunks among which the model for new ones is chosen.
const MODELS: u64 = 16;

impl EditorBuilder {
    /// The settings for chunks like this one, in a file whose header has this typesize.
    pub(super) fn settings_like(
        &self,
        chunk: Option<&[u8]>,
        typesize: Option<u8>,
    ) -> ChunkSettings {
        let like = chunk.and_then(|chunk| settings_of(chunk).ok());
        let mut settings = like.flatten().unwrap_or_default();
        if let Some(typesize) = typesize.filter(|size| *size > 0) {
            settings.typesize = typesize;
        }
        if let Some(compressor) = self.compressor
            && compressor != settings.compressor
        {
            settings.compressor = compressor;
            settings.level = compressor.default_level();
        }
        settings.level = self.level.unwrap_or(settings.level);
        settings.filter = self.filter.unwrap_or(settings.filter);
        settings.typesize = self.typesize.unwrap_or(settings.typesize);
        settings
    }

    /// The settings of the chunks of a file, by the last but one or the last. The last chunk may be too short to show them.
    ///
    /// # Errors
    /// Returns any error of the file.
    pub(super) fn settings_of<S: ReadAt>(
        &self,
        reader: &IndexedReader<S>,
        typesize: Option<u8>,
    ) -> Result<ChunkSettings> {
        let chunks = reader.chunks();
        let models = [chunks.checked_sub(2), chunks.checked_sub(1)];
        let model = first_sound(reader, models.into_iter().flatten())?;
        Ok(self.settings_like(model.as_deref(), typesize))
    }

    /// As [`settings_of`](Self::settings_of), for records: by the longest of the last chunks.
    ///
    /// # Errors
    /// Returns any error of the file.
    pub(super) fn settings_of_records<S: ReadAt>(
        &self,
        reader: &IndexedReader<S>,
        typesize: Option<u8>,
    ) -> Result<ChunkSettings> {
        let chunks = reader.chunks();
        // Saturates: with fewer chunks, all are candidates.
        let last = chunks.saturating_sub(MODELS)..chunks;
        let mut models = last
            .map(|chunk| Ok((reader.compressed_len(chunk)?, chunk)))
            .collect::<Result<Vec<_>>>()?;
        models.sort_by_key(|(len, _)| std::cmp::Reverse(*len));
        let model = first_sound(reader, models.into_iter().map(|(_, chunk)| chunk))?;
        Ok(self.settings_like(model.as_deref(), typesize))
    }
}

/// The first sound one of these chunks.
fn first_sound<S: ReadAt>(
    reader: &IndexedReader<S>,
    chunks: impl Iterator<Item = u64>,
) -> Result<Option<Bytes>> {
    for chunk in chunks {
        match reader.compressed_chunk(chunk) {
            Ok((_, bytes)) => return Ok(Some(bytes)),
            Err(error) if error.is_format() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

impl<F: Folder> Editor<F> {
    /// The options for appended chunks.
    pub(super) fn chunk_options(&self) -> Result<ChunkOptions> {
        let header = &self.state.map.header;
        let settings_of = if header.varlen {
            EditorBuilder::settings_of_records
        } else {
            EditorBuilder::settings_of
        };
        Ok(ChunkOptions {
            chunk: settings_of(&self.builder, &self.reader(), header.typesize)?,
            checksum: header.checksum,
            longest: self.builder.options.limits.chunk,
            hashers: self.builder.options.hashers.clone(),
            threads: self.builder.options.codec_threads(),
            crew: None,
        })
    }

    /// Uncompressed bytes of every chunk except the last.
    pub(super) fn chunk_size(&self) -> Result<u32> {
        if self.chunks() >= 2 {
            // After chunks of different lengths, new chunks have the default size.
            let there = self.state.index.chunk_size().filter(|size| *size > 0);
            let usual = DEFAULT_CHUNK_SIZE
                .min(self.builder.options.limits.chunk)
                .max(1);
            return Ok(there.unwrap_or(usual));
        }
        let len = self.content_len();
        let there = u32::try_from(len)
            .map_err(|_| Error::bug(format!("a single chunk of {len} uncompressed bytes")))?;
        let wanted = self.builder.chunk_size;
        if wanted.is_some_and(|size| !(1..=MAX_NBYTES).contains(&size)) {
            return Err(Error::usage(format!(
                "the chunk size is out of range: it must be 1 to {MAX_NBYTES}"
            )));
        }
        let limit = self.builder.options.limits.chunk;
        if let Some(size) = wanted {
            FormatError::check_write(Limit::Chunk, size.into(), limit.into())?;
        }
        let size = wanted.unwrap_or(DEFAULT_CHUNK_SIZE.min(limit));
        Ok(size.max(there).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::EditorBuilder;
    use crate::indexed::IndexedReader;
    use crate::records::RecordWriter;
    use blosc1::Compressor;
    use bloscpack_storage::ReadAt;
    use std::io;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    struct Counting<'a>(&'a [u8], &'a AtomicUsize);

    impl ReadAt for Counting<'_> {
        fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
            let len = self.0.read_at(at, buf)?;
            self.1.fetch_add(len, Relaxed);
            Ok(len)
        }

        fn size(&self) -> io::Result<u64> {
            self.0.size()
        }
    }

    #[test]
    fn of_long_records_only_one_is_read_to_know_how_they_were_made() {
        let target = io::Cursor::new(Vec::new());
        let options = RecordWriter::builder().compressor(Compressor::Zstd);
        let mut writer = options.write_to_file(target).unwrap();
        let mut noise = 1u32;
        let mut byte = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Half of them, so that it can be compressed.
            (noise >> 28) as u8
        };
        for len in (0..20).map(|number| 100_000 + number % 7) {
            let record: Vec<u8> = std::iter::repeat_with(&mut byte).take(len).collect();
            writer.push(record).unwrap();
        }
        let file = writer.finish().unwrap().into_inner();

        let count = AtomicUsize::new(0);
        let reader = IndexedReader::open(Counting(&file, &count)).unwrap();
        count.store(0, Relaxed);
        let settings = EditorBuilder::default()
            .settings_of_records(&reader, Some(1))
            .unwrap();
        assert_eq!(settings.compressor, Compressor::Zstd);
        let read = count.into_inner();
        assert!(read < file.len() / 10, "{read} bytes");
    }
}
