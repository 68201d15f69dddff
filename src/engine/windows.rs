//! [`Windows`]: reads a source ahead of the parser, on several threads.

use crate::shared_source::Fetch;
use bloscpack_error::checked::len_of;
use bloscpack_error::{Error, IoSide, Result};
use bloscpack_storage::SharedSource;
use bloscpack_storage::parallel::Pipeline;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a window.
const WINDOW: u64 = 1 << 20;

/// Bytes of a source. If the window is not full, the source ends after them.
pub(super) struct Window {
    pub bytes: Arc<Vec<u8>>,
    pub is_full: bool,
}

/// Reads a source in windows of 1 MiB, several at once, and returns them in order.
pub(super) struct Windows {
    pipeline: Pipeline<(Range<u64>, Vec<u8>), io::Result<Window>>,
    /// Windows that were taken. Those that nobody uses any more become the next ones: reused memory costs less than fresh memory.
    used: VecDeque<Arc<Vec<u8>>>,
    /// The range that no thread reads yet.
    left: Range<u64>,
    /// Number of windows taken. No more windows than this are read ahead, so reading a few bytes costs little.
    taken: usize,
}

impl Windows {
    pub(super) fn new(source: &SharedSource, left: Range<u64>, threads: usize) -> Self {
        let source = Arc::clone(source);
        let make_worker = move || {
            let source = Arc::clone(&source);
            move |(bytes, buffer)| read(&source, bytes, buffer)
        };
        Self {
            pipeline: Pipeline::new(threads, make_worker),
            used: VecDeque::new(),
            left,
            taken: 0,
        }
    }

    /// The next window, or `None` at the end.
    ///
    /// # Errors
    /// Returns any error of the source. No window follows it.
    pub(super) fn next(&mut self) -> Result<Option<Window>> {
        while !self.left.is_empty()
            && !self.pipeline.is_full()
            && self.pipeline.under_way() <= self.taken
        {
            let end = self.left.start + len_of(&self.left).min(WINDOW);
            let buffer = self.spare();
            self.pipeline.submit((self.left.start..end, buffer));
            self.left.start = end;
        }
        self.taken += 1;
        match self.pipeline.next() {
            None => Ok(None),
            Some(read) => {
                let window = read.map_err(Error::from)?.reading()?;
                self.used.push_back(Arc::clone(&window.bytes));
                Ok(Some(window))
            }
        }
    }
}

impl Windows {
    /// A buffer that nobody uses any more. Drops others, if there are many: a long chunk lay in them.
    fn spare(&mut self) -> Vec<u8> {
        let mut spare = Vec::new();
        while self
            .used
            .front()
            .is_some_and(|window| Arc::strong_count(window) == 1)
        {
            let window = self.used.pop_front().and_then(Arc::into_inner);
            spare = window.unwrap_or_default();
            if self.used.len() <= self.pipeline.capacity() {
                break;
            }
        }
        spare
    }
}

/// Reads these bytes of a source, or fewer at its end.
fn read(source: &SharedSource, bytes: Range<u64>, mut window: Vec<u8>) -> io::Result<Window> {
    let len = usize::try_from(len_of(&bytes)).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let fetch = Fetch {
        source: Arc::clone(source),
        bytes,
    };
    match window.capacity() < len {
        // Fresh zeroed memory costs nothing until it is written to.
        true => window = vec![0; len],
        false => window.resize(len, 0),
    }
    let mut done = 0;
    while let Some(room) = window.get_mut(done..).filter(|room| !room.is_empty()) {
        match fetch.read(done, room) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            read => done += read?,
        }
    }
    window.truncate(done);
    Ok(Window {
        is_full: done == len,
        bytes: Arc::new(window),
    })
}
