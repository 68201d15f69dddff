//! A file that goes to disk while it grows, so that little is left to wait for at its end.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes after which the disk is set to work. A file of fewer has no need of it.
const STRETCH: u64 = 32 << 20;

/// A file that is written, and sent to disk by a thread of its own meanwhile.
#[derive(Debug)]
pub struct Growing {
    file: File,
    /// Bytes written since the disk was last set to work.
    waiting: AtomicU64,
    /// Nothing inside where no thread could be had: then all is left to the end.
    sender: OnceLock<Option<Sender>>,
}

/// The thread that has the file sent to disk each time it is poked.
#[derive(Debug)]
struct Sender {
    poke: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Growing {
    /// Takes over an open file.
    pub fn new(file: File) -> Self {
        Self {
            file,
            waiting: AtomicU64::new(0),
            sender: OnceLock::new(),
        }
    }

    /// Takes over a file that nobody keeps, and that is never sent to disk.
    pub fn passing(file: File) -> Self {
        Self {
            sender: OnceLock::from(None),
            ..Self::new(file)
        }
    }

    /// The file itself.
    pub fn get_ref(&self) -> &File {
        &self.file
    }

    /// Returns when all of it would outlive a power cut.
    ///
    /// The system tells an error of writing back only once, perhaps to the thread: then it counts here.
    pub fn sync(&mut self) -> io::Result<()> {
        if let Some(Sender { poke, thread }) = self.sender.take().flatten() {
            drop(poke);
            let gone = |_| Err(io::Error::other("the thread that syncs has panicked"));
            thread.join().unwrap_or_else(gone)?;
        }
        self.file.sync_all()
    }

    fn start(&self) -> Option<Sender> {
        let file = self.file.try_clone().ok()?;
        Sender::start(move || file.sync_data())
    }

    fn count(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(0);
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        if waiting.saturating_add(bytes) < STRETCH {
            return;
        }
        self.waiting.store(0, Ordering::Relaxed);
        if let Some(sender) = self.sender.get_or_init(|| self.start()) {
            // One poke that waits is enough.
            let _ = sender.poke.try_send(());
        }
    }
}

impl Sender {
    /// A thread that calls `sync` when it is poked, up to the first error.
    fn start(mut sync: impl FnMut() -> io::Result<()> + Send + 'static) -> Option<Self> {
        let (poke, poked) = sync_channel(1);
        let work = move || poked.iter().try_for_each(|()| sync());
        let thread = thread::Builder::new().name("sync".to_owned()).spawn(work);
        Some(Self {
            poke,
            thread: thread.ok()?,
        })
    }
}

impl Read for &Growing {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buf)
    }
}

impl Write for &Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = (&self.file).write(bytes)?;
        self.count(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &Growing {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.file).seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::{Growing, STRETCH, Sender};
    use std::io::{self, Read, Seek, Write};

    #[test]
    fn all_of_it_is_there_however_it_went_to_disk() {
        let piece = vec![7; 1 << 20];
        for pieces in [1, 2 * (STRETCH >> 20) + 1] {
            let mut growing = Growing::new(tempfile::tempfile().unwrap());
            for _ in 0..pieces {
                (&growing).write_all(&piece).unwrap();
            }
            assert_eq!(growing.sender.get().is_some(), pieces > 1);
            growing.sync().unwrap();
            let mut target = &growing;
            target.rewind().unwrap();
            let mut count = 0;
            let mut back = vec![0; 1 << 20];
            while target.read_exact(&mut back).is_ok() {
                assert!(back == piece);
                count += 1;
            }
            assert_eq!(count, pieces);
        }
    }

    #[test]
    fn an_error_of_the_thread_is_one_of_the_sync_at_the_end() {
        let mut growing = Growing::new(tempfile::tempfile().unwrap());
        let failing = || Err(io::Error::other("planted"));
        let sender = Sender::start(failing).unwrap();
        sender.poke.send(()).unwrap();
        growing.sender.set(Some(sender)).unwrap();
        assert_eq!(growing.sync().unwrap_err().to_string(), "planted");
    }
}
