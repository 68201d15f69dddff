//! Tests of the state after a failure in the middle of an operation.

use bloscpack::Options;
use bloscpack_error::Category;
use bloscpack_frames::{Frame, NdArray};
use bloscpack_storage::{
    Access, Folder, Key, Lock, LockMode, Memory, MemoryFile, ReadAt, Store, WriteAt,
};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const NAME: &str = "frame";

/// Bytes that nothing makes shorter.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn edit(memory: &Memory) -> Frame {
    Frame::edit_in(memory.clone(), OsStr::new(NAME), &Options::new()).unwrap()
}

fn edit_array(memory: &Memory) -> NdArray {
    NdArray::of(edit(memory)).unwrap()
}

/// The kind of failure.
#[derive(Debug, Default)]
struct Trouble {
    /// Writes to the frame itself beyond its first bytes fail.
    is_full: AtomicBool,
    /// Everything fails once the file has its mark.
    stops_at_mark: AtomicBool,
    has_stopped: AtomicBool,
}

/// A folder in memory with [`Trouble`].
#[derive(Debug, Clone)]
struct Troubled(Memory, Arc<Trouble>);

#[derive(Debug)]
struct TroubledFile(MemoryFile, Arc<Trouble>, bool);

impl Trouble {
    fn pass(&self) -> io::Result<()> {
        if self.has_stopped.load(Ordering::Relaxed) {
            Err(io::Error::other("the power is gone"))
        } else {
            Ok(())
        }
    }
}

impl Troubled {
    fn file(&self, name: &OsStr, file: MemoryFile) -> TroubledFile {
        TroubledFile(file, Arc::clone(&self.1), name == NAME)
    }
}

impl Folder for Troubled {
    type File = TroubledFile;

    fn open(&self, name: &OsStr, access: Access) -> io::Result<TroubledFile> {
        Ok(self.file(name, Folder::open(&self.0, name, access)?))
    }

    fn create(&self, name: &OsStr, _: Option<&TroubledFile>) -> io::Result<TroubledFile> {
        self.1.pass()?;
        Ok(self.file(name, Folder::create(&self.0, name, None)?))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.1.pass()?;
        self.0.replace(from, to)
    }

    fn remove(&self, name: &OsStr) -> io::Result<()> {
        self.1.pass()?;
        Folder::remove(&self.0, name)
    }

    fn list(&self) -> io::Result<Vec<OsString>> {
        Folder::list(&self.0)
    }

    fn sync(&self) -> io::Result<()> {
        self.1.pass()
    }

    fn leads_to(&self, name: &OsStr, file: &TroubledFile) -> io::Result<bool> {
        self.0.leads_to(name, &file.0)
    }
}

impl ReadAt for TroubledFile {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(at, buf)
    }

    fn size(&self) -> io::Result<u64> {
        self.0.size()
    }
}

impl WriteAt for TroubledFile {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.1.pass()?;
        if self.2 && bytes == b"!" && self.1.stops_at_mark.load(Ordering::Relaxed) {
            self.1.has_stopped.store(true, Ordering::Relaxed);
        } else if self.2 && self.1.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.write_at(at, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.1.pass()?;
        self.0.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.1.pass()
    }
}

impl Lock for TroubledFile {
    fn try_lock(&self, hold: LockMode) -> io::Result<bool> {
        self.0.try_lock(hold)
    }

    fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }
}

/// A chunk that did not fit the disk, then a flush without it, then a power cut: the journal has to be one.
#[test]
fn a_chunk_that_failed_does_not_spoil_the_journal() {
    let memory = Memory::new();
    let mut frame = Frame::builder(1, 1000)
        .create_in(memory.clone(), OsStr::new(NAME))
        .unwrap();
    frame.append(&noise(0, 1000)).unwrap();
    frame.flush().unwrap();
    drop(frame);

    let trouble = Arc::new(Trouble::default());
    let folder = Troubled(memory.clone(), Arc::clone(&trouble));
    let mut frame = Frame::edit_in(folder, OsStr::new(NAME), &Options::new()).unwrap();
    // Few bytes, which go through the journal.
    let mut few = vec![7; 1000];
    few[..30].copy_from_slice(&noise(1, 30));
    frame.append(&few).unwrap();
    trouble.is_full.store(true, Ordering::Relaxed);
    let error = frame.append(&noise(2, 1000)).unwrap_err();
    assert_eq!(error.category(), Category::Failed, "{error}");
    trouble.is_full.store(false, Ordering::Relaxed);
    trouble.stops_at_mark.store(true, Ordering::Relaxed);
    frame.flush().unwrap_err();
    assert!(trouble.has_stopped.load(Ordering::Relaxed));
    drop(frame);

    let frame = edit(&memory);
    assert_eq!(frame.chunks(), 2);
    assert_eq!(frame.chunk(0).unwrap(), noise(0, 1000));
    assert_eq!(frame.chunk(1).unwrap(), few);
}

/// An array of 38 elements in chunks of 10, of which this one cannot be read.
fn damaged(chunk: usize) -> (Memory, Vec<u8>) {
    let memory = Memory::new();
    let mut array = NdArray::builder(&[38], 1)
        .chunk_shape(&[10])
        .block_shape(&[10])
        .create_in(memory.clone(), OsStr::new(NAME))
        .unwrap();
    let data = noise(3, 38);
    array.write_slice(&[0..38], &data).unwrap();
    array.flush().unwrap();
    drop(array);
    let mut bytes = memory.bytes(NAME).unwrap();
    let wanted = &data[chunk * 10..(chunk * 10 + 8)];
    let at = bytes
        .windows(8)
        .position(|window| window == wanted)
        .unwrap();
    bytes[at - 32] = 0xee;
    (Memory::from([(NAME, bytes)]), data)
}

/// After an error, a flush makes all of an operation permanent or nothing.
fn fails_as_a_whole(chunk: usize, act: impl FnOnce(&mut NdArray) -> bloscpack_error::Result<()>) {
    let (memory, data) = damaged(chunk);
    // So little memory that it takes many steps.
    let options = Options::new().threads(1).cache(4);
    let frame = Frame::edit_in(memory.clone(), OsStr::new(NAME), &options).unwrap();
    let mut array = NdArray::of(frame).unwrap();
    act(&mut array).unwrap_err();
    let _ = array.flush();
    drop(array);
    let array = edit_array(&memory);
    assert_eq!(array.shape(), [38]);
    for (start, end) in [(0, 10), (10, 20), (20, 30), (30, 38)] {
        if start != chunk as u64 * 10 {
            let found = array.read_slice(&[start..end]).unwrap();
            assert_eq!(found, data[start as usize..end as usize]);
        }
    }
}

#[test]
fn half_a_deletion_is_never_flushed() {
    fails_as_a_whole(3, |array| array.delete(0, 3..7));
    fails_as_a_whole(1, |array| array.delete(0, 3..7));
}

#[test]
fn half_an_insertion_is_never_flushed() {
    fails_as_a_whole(1, |array| array.insert(0, 3, &[1, 2, 3]));
    fails_as_a_whole(3, |array| array.insert(0, 3, &[1, 2, 3]));
}

#[test]
fn padding_that_could_not_be_cleared_is_never_flushed() {
    fails_as_a_whole(3, |array| array.resize(&[45]));
}

/// A file is missing in a sparse frame: the rest can be changed, and the chunk can be replaced or removed.
#[test]
fn a_missing_chunk_can_be_replaced_and_removed() {
    let store = Memory::new();
    let mut array = NdArray::builder(&[30], 1)
        .chunk_shape(&[10])
        .block_shape(&[10])
        .create_in_store(store.clone())
        .unwrap();
    array.write_slice(&[0..30], &noise(4, 30)).unwrap();
    array.flush().unwrap();
    drop(array);
    Store::remove(&store, &Key::parse("00000001.chunk").unwrap()).unwrap();

    let edit = || NdArray::of(Frame::edit_store(store.clone(), &Options::new()).unwrap()).unwrap();
    let mut array = edit();
    assert_eq!(
        array.read_slice(&[0..30]).unwrap_err().category(),
        Category::Damaged
    );
    array.write_slice(&[10..20], &noise(5, 10)).unwrap();
    array.flush().unwrap();
    drop(array);
    let mut array = edit();
    assert_eq!(array.read_slice(&[10..20]).unwrap(), noise(5, 10));
    array.delete(0, 0..10).unwrap();
    array.flush().unwrap();
    drop(array);
    assert_eq!(edit().read_slice(&[0..10]).unwrap(), noise(5, 10));
}

/// Too many layers for a header are refused at once, and the other changes are kept.
#[test]
fn a_layer_too_many_does_not_spoil_the_flush() {
    let mut frame = Frame::builder(1, 100).in_memory().unwrap();
    frame.append(&noise(6, 100)).unwrap();
    for number in 0..16 {
        frame
            .set_metalayer(&format!("layer {number}"), vec![1])
            .unwrap();
    }
    let error = frame.set_metalayer("one more", vec![1]).unwrap_err();
    assert_eq!(error.category(), Category::Usage, "{error}");
    let name = |number: u32| format!("{number:031}");
    let most = (0..3000).take_while(|number| frame.set_vlmetalayer(&name(*number), b"x").is_ok());
    // Names and six bytes more for each: 65,529 bytes at most.
    assert_eq!(most.count(), 65_529 / (31 + 6));
    frame.set_metalayer("layer 3", vec![2, 3]).unwrap();
    frame.flush().unwrap();
    assert_eq!(frame.chunk(0).unwrap(), noise(6, 100));
    assert_eq!(frame.metalayers().get("layer 3"), Some(&[2, 3][..]));
}

/// A failed creation leaves nothing that would hinder the next attempt.
#[test]
fn what_cannot_be_created_leaves_nothing() {
    use blosc1::{FilterPipeline, FilterStep};
    let precision = [FilterStep::TruncatePrecision { bits: 4 }];
    let precision = FilterPipeline::new(&precision).unwrap();
    let memory = Memory::new();
    let array = || NdArray::builder(&[30], 2);
    for builder in [
        array().vlmetalayer(&"x".repeat(32), b"value"),
        array().filters(precision),
    ] {
        let created = builder.create_in(memory.clone(), OsStr::new(NAME));
        let error = created.unwrap_err();
        assert_eq!(error.category(), Category::Usage, "{error}");
        assert_eq!(Folder::list(&memory).unwrap(), Vec::<OsString>::new());
    }
}

/// The advice of `append` after a short chunk works.
#[test]
fn a_short_chunk_can_give_way_to_a_whole_one() {
    let mut frame = Frame::builder(1, 100).in_memory().unwrap();
    frame.append(&noise(7, 50)).unwrap();
    let error = frame.append(&noise(8, 100)).unwrap_err();
    assert!(error.to_string().contains("remove"), "{error}");
    frame.remove(0).unwrap();
    frame.append(&noise(8, 100)).unwrap();
    assert_eq!((frame.chunks(), frame.content_len()), (1, 100));
}

/// The same for a box of many chunks, of which the last cannot be read.
#[test]
fn half_a_box_is_never_flushed() {
    let (memory, data) = damaged(3);
    let options = Options::new().threads(1).cache(10);
    let frame = Frame::edit_in(memory.clone(), OsStr::new(NAME), &options).unwrap();
    let mut array = NdArray::of(frame).unwrap();
    array.write_slice(&[5..35], &[1; 30]).unwrap_err();
    let _ = array.flush();
    drop(array);
    assert_eq!(
        edit_array(&memory).read_slice(&[0..30]).unwrap(),
        data[..30]
    );
}

/// Metadata that got longer, new chunks, and those that only the journal has: all go into the new file.
#[test]
fn a_new_file_has_the_chunks_of_the_journal() {
    let memory = Memory::new();
    let mut frame = Frame::builder(1, 100)
        .create_in(memory.clone(), OsStr::new(NAME))
        .unwrap();
    for round in 0..6u64 {
        for number in 0..3 {
            frame.append(&noise(round * 3 + number, 100)).unwrap();
        }
        frame
            .set_metalayer("layer", vec![7; round as usize * 9])
            .unwrap();
        frame
            .set_vlmetalayer("vl", &noise(round, round as usize * 31))
            .unwrap();
        frame.replace(0, &noise(100 + round, 100)).unwrap();
        frame.flush().unwrap();
        let copy = edit_after(frame, &memory);
        for number in 1..copy.chunks() {
            assert_eq!(copy.chunk(number).unwrap(), noise(number, 100));
        }
        assert_eq!(copy.chunk(0).unwrap(), noise(100 + round, 100));
        assert_eq!(
            copy.metalayers().get("layer").unwrap().len() as u64,
            round * 9
        );
        frame = copy;
    }
}

fn edit_after(frame: Frame, memory: &Memory) -> Frame {
    drop(frame);
    edit(memory)
}
