//! A file that is synced while it is written. The final sync then takes little time.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use bloscpack::storage::internal::sync_file;
use bloscpack::wire::internal::to_u64;

/// Bytes between two syncs. A shorter file is synced only at its end.
const STRIDE: u64 = 32 << 20;

/// A file that another thread syncs while it is written.
#[derive(Debug)]
pub struct SyncingFile {
    file: File,
    /// Bytes written since the last sync.
    unsynced: AtomicU64,
    /// Contains `None` if no thread could be started. Then everything is synced at the end.
    syncer: OnceLock<Option<Syncer>>,
}

/// The thread that syncs the file each time it is poked.
#[derive(Debug)]
struct Syncer {
    poke: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl SyncingFile {
    /// Takes over an open file.
    pub fn new(file: File) -> Self {
        Self {
            file,
            unsynced: AtomicU64::new(0),
            syncer: OnceLock::new(),
        }
    }

    /// Takes over a temporary file, which is never synced.
    pub fn temporary(file: File) -> Self {
        Self {
            syncer: OnceLock::from(None),
            ..Self::new(file)
        }
    }

    pub fn get_ref(&self) -> &File {
        &self.file
    }

    /// Syncs the file: all of it then survives a power cut.
    ///
    /// The system reports a write-back error only once, perhaps to the thread. This returns the error of either.
    pub fn sync(&mut self) -> io::Result<()> {
        if let Some(Syncer { poke, thread }) = self.syncer.take().flatten() {
            drop(poke);
            let gone = |_| Err(io::Error::other("the syncing thread has panicked"));
            thread.join().unwrap_or_else(gone)?;
        }
        sync_file(&self.file)
    }

    fn start(&self) -> Option<Syncer> {
        let file = self.file.try_clone().ok()?;
        Syncer::start(move || sync_file(&file))
    }

    fn count(&self, bytes: usize) {
        let bytes = to_u64(bytes);
        if self.unsynced.fetch_add(bytes, Ordering::Relaxed) + bytes < STRIDE {
            return;
        }
        self.unsynced.store(0, Ordering::Relaxed);
        if let Some(syncer) = self.syncer.get_or_init(|| self.start()) {
            // One pending poke is enough.
            let _ = syncer.poke.try_send(());
        }
    }
}

impl Syncer {
    /// Starts a thread that calls `sync` when it is poked, up to the first error.
    fn start(mut sync: impl FnMut() -> io::Result<()> + Send + 'static) -> Option<Self> {
        let (poke, poked) = sync_channel(1);
        let work = move || poked.iter().try_for_each(|()| sync());
        let thread = thread::Builder::new().name("sync".to_owned()).spawn(work);
        let thread = thread.ok()?;
        Some(Self { poke, thread })
    }
}

impl Read for &SyncingFile {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&self.file).read(buf)
    }
}

impl Write for &SyncingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = (&self.file).write(bytes)?;
        self.count(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for &SyncingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.file).seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::{STRIDE, Syncer, SyncingFile};
    use std::io::{self, Read, Seek, Write};

    #[test]
    fn all_of_it_is_there_however_it_went_to_disk() {
        let piece = vec![7; 1 << 20];
        for pieces in [1, 2 * (STRIDE >> 20) + 1] {
            let mut file = SyncingFile::new(tempfile::tempfile().unwrap());
            for _ in 0..pieces {
                (&file).write_all(&piece).unwrap();
            }
            assert_eq!(file.syncer.get().is_some(), pieces > 1);
            file.sync().unwrap();
            let mut target = &file;
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
        let mut file = SyncingFile::new(tempfile::tempfile().unwrap());
        let failing = || Err(io::Error::other("planted"));
        let syncer = Syncer::start(failing).unwrap();
        syncer.poke.send(()).unwrap();
        file.syncer.set(Some(syncer)).unwrap();
        assert_eq!(file.sync().unwrap_err().to_string(), "planted");
    }
}
