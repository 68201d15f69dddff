//! Tests of random changes to arrays against a model that is just elements in C order.

use bloscpack::Options;
use bloscpack_frames::{ArrayKind, Frame, NdArray, NdArrayBuilder};
use bloscpack_storage::Memory;
use std::ffi::OsStr;
use std::ops::Range;

/// Bytes of an element.
const ITEM: usize = 3;

/// A generator that gives the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    /// Up to and with `most`.
    fn upto(&mut self, most: u64) -> u64 {
        self.next() % (most + 1)
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        // Often nothing but zeros.
        let mask = if self.upto(3) == 0 { 0 } else { 0xff };
        (0..len).map(|_| (self.next() & mask) as u8).collect()
    }

    fn slice(&mut self, shape: &[u64]) -> Vec<Range<u64>> {
        let mut range = |len: u64| match self.upto(3) {
            0 => 0..len,
            _ => {
                let start = self.upto(len);
                start..start + self.upto(len - start)
            }
        };
        shape.iter().map(|len| range(*len)).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Model {
    shape: Vec<u64>,
    data: Vec<u8>,
}

fn volume(shape: &[u64]) -> usize {
    shape.iter().product::<u64>() as usize
}

/// All positions of a shape in C order.
fn positions(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<'_> {
    (0..volume(shape) as u64).map(move |mut number| {
        let mut at = vec![0; shape.len()];
        for (place, len) in at.iter_mut().zip(shape).rev() {
            *place = number % len;
            number /= len;
        }
        at
    })
}

impl Model {
    fn get(&self, at: &[u64]) -> Option<&[u8]> {
        let mut number = 0;
        for (at, len) in at.iter().zip(&self.shape) {
            if at >= len {
                return None;
            }
            number = number * len + at;
        }
        let start = number as usize * ITEM;
        Some(&self.data[start..start + ITEM])
    }

    fn put(&mut self, at: &[u64], element: &[u8]) {
        let number = at
            .iter()
            .zip(&self.shape)
            .fold(0, |n, (at, len)| n * len + at);
        let start = number as usize * ITEM;
        self.data[start..start + ITEM].copy_from_slice(element);
    }

    fn rebuilt(&self, shape: &[u64], from: impl Fn(&[u64]) -> Option<Vec<u64>>) -> Self {
        let mut data = Vec::new();
        for at in positions(shape) {
            let element = from(&at).and_then(|at| self.get(&at).map(<[u8]>::to_vec));
            data.extend(element.unwrap_or(vec![0; ITEM]));
        }
        Self {
            shape: shape.to_vec(),
            data,
        }
    }

    fn slice(&self, slice: &[Range<u64>]) -> Vec<u8> {
        let shape: Vec<u64> = slice.iter().map(|range| range.end - range.start).collect();
        let all = positions(&shape).flat_map(|at| {
            let at: Vec<u64> = at
                .iter()
                .zip(slice)
                .map(|(at, range)| at + range.start)
                .collect();
            self.get(&at).unwrap().to_vec()
        });
        all.collect()
    }

    fn write(&mut self, slice: &[Range<u64>], data: &[u8]) {
        let shape: Vec<u64> = slice.iter().map(|range| range.end - range.start).collect();
        for (at, element) in positions(&shape).zip(data.chunks(ITEM)) {
            let at: Vec<u64> = at
                .iter()
                .zip(slice)
                .map(|(at, range)| at + range.start)
                .collect();
            self.put(&at, element);
        }
    }
}

fn axis_at(at: &[u64], axis: usize, value: u64) -> Vec<u64> {
    let mut at = at.to_vec();
    at[axis] = value;
    at
}

/// The storage of an array, so that it can be opened again.
#[derive(Clone)]
enum Place {
    File(Memory),
    Folder(Memory),
}

impl Place {
    fn create(&self, builder: NdArrayBuilder) -> NdArray {
        match self {
            Self::File(memory) => builder.create_in(memory.clone(), OsStr::new("array")),
            Self::Folder(store) => builder.create_in_store(store.clone()),
        }
        .unwrap()
    }

    fn edit(&self, options: &Options) -> NdArray {
        let frame = match self {
            Self::File(memory) => Frame::edit_in(memory.clone(), OsStr::new("array"), options),
            Self::Folder(store) => Frame::edit_store(store.clone(), options),
        };
        NdArray::of(frame.unwrap()).unwrap()
    }
}

fn check(array: &NdArray, model: &Model, what: &str) {
    assert_eq!(array.shape(), model.shape, "{what}");
    let whole: Vec<Range<u64>> = model.shape.iter().map(|len| 0..*len).collect();
    assert_eq!(array.read_slice(&whole).unwrap(), model.data, "{what}");
}

fn step(array: &mut NdArray, model: &mut Model, random: &mut Random) -> String {
    let axes = model.shape.len();
    match random.upto(11) {
        0..=2 => {
            let slice = random.slice(&model.shape);
            let len: u64 = slice.iter().map(|range| range.end - range.start).product();
            let data = random.bytes(len as usize * ITEM);
            array.write_slice(&slice, &data).unwrap();
            model.write(&slice, &data);
            format!("write {slice:?}")
        }
        3 => {
            let slice = random.slice(&model.shape);
            let element = random.bytes(ITEM);
            array.fill_slice(&slice, &element).unwrap();
            let len: u64 = slice.iter().map(|range| range.end - range.start).product();
            model.write(&slice, &element.repeat(len as usize));
            format!("fill {slice:?}")
        }
        4 | 5 => {
            let shape: Vec<u64> = model
                .shape
                .iter()
                .map(|len| random.upto(len + 5).min(14))
                .collect();
            array.resize(&shape).unwrap();
            *model = model.rebuilt(&shape, |at| Some(at.to_vec()));
            format!("resize {shape:?}")
        }
        6 | 7 if axes > 0 => {
            let axis = random.upto(axes as u64 - 1) as usize;
            let len = model.shape[axis];
            let at = match random.upto(1) {
                0 => len / 4 * 4,
                _ => random.upto(len),
            };
            let count = 1 + random.upto(5);
            let others: u64 = (0..axes)
                .filter(|o| *o != axis)
                .map(|o| model.shape[o])
                .product();
            let data = random.bytes((others * count) as usize * ITEM);
            array.insert(axis, at, &data).unwrap();
            if data.is_empty() {
                return "insert nothing".to_owned();
            }
            let mut shape = model.shape.clone();
            shape[axis] += count;
            *model = model.rebuilt(&shape, |p| match p[axis] {
                x if x < at => Some(p.to_vec()),
                x if x < at + count => None,
                x => Some(axis_at(p, axis, x - count)),
            });
            let mut slice: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
            slice[axis] = at..at + count;
            model.write(&slice, &data);
            format!("insert {axis} {at} {count}")
        }
        8 if axes > 0 => {
            let axis = random.upto(axes as u64 - 1) as usize;
            let len = model.shape[axis];
            let (start, end) = match random.upto(1) {
                0 => (len / 4 / 2 * 4, len / 4 * 4),
                _ => {
                    let start = random.upto(len);
                    (start, start + random.upto(len - start))
                }
            };
            array.delete(axis, start..end).unwrap();
            let mut shape = model.shape.clone();
            shape[axis] -= end - start;
            *model = model.rebuilt(&shape, |p| match p[axis] {
                x if x < start => Some(p.to_vec()),
                x => Some(axis_at(p, axis, x + end - start)),
            });
            format!("delete {axis} {start}..{end}")
        }
        9 => {
            let mut some = |len: u64| -> Vec<u64> {
                let count = if len == 0 { 0 } else { random.upto(5) };
                (0..count).map(|_| random.upto(len - 1)).collect()
            };
            let picked: Vec<Vec<u64>> = model.shape.iter().map(|len| some(*len)).collect();
            let lens: Vec<u64> = picked.iter().map(|p| p.len() as u64).collect();
            let data = random.bytes(volume(&lens) * ITEM);
            let refs: Vec<&[u64]> = picked.iter().map(Vec::as_slice).collect();
            array.set_selection(&refs, &data).unwrap();
            let real = |at: &[u64]| -> Vec<u64> {
                at.iter()
                    .zip(&picked)
                    .map(|(at, p)| p[*at as usize])
                    .collect()
            };
            for (at, element) in positions(&lens).zip(data.chunks(ITEM)) {
                model.put(&real(&at), element);
            }
            let expected: Vec<u8> = positions(&lens)
                .flat_map(|at| model.get(&real(&at)).unwrap().to_vec())
                .collect();
            assert_eq!(array.select(&refs).unwrap(), expected);
            format!("select {picked:?}")
        }
        10 => {
            let bytes = random.bytes(7);
            let len = random.upto(7) as usize;
            array.set_metalayer("other", bytes[..len].to_vec()).unwrap();
            format!("metalayer of {len}")
        }
        _ => {
            let len = random.upto(50) as usize;
            array.set_vlmetalayer("vl", &random.bytes(len)).unwrap();
            "vlmetalayer".to_owned()
        }
    }
}

fn run(seed: u64, place: Place) {
    let mut random = Random(seed * 2 + 1);
    let _ = (0..10).map(|_| random.next()).sum::<u64>();
    let axes = random.upto(3) as usize;
    let kind = match axes {
        0 => ArrayKind::B2nd,
        _ if random.upto(1) == 0 => ArrayKind::Caterva,
        _ => ArrayKind::B2nd,
    };
    let shape: Vec<u64> = (0..axes).map(|_| random.upto(9)).collect();
    let chunk: Vec<u32> = (0..axes).map(|_| 1 + random.upto(4) as u32).collect();
    let block: Vec<u32> = chunk
        .iter()
        .map(|len| 1 + random.upto(u64::from(*len) - 1) as u32)
        .collect();
    let options = Options::new()
        .threads(1 + random.upto(2) as usize)
        .cache(random.upto(400) as usize);
    let element = random.bytes(ITEM);
    let builder = NdArray::builder(&shape, ITEM as u32)
        .kind(kind)
        .chunk_shape(&chunk)
        .block_shape(&block)
        .full(&element)
        .options(options.clone());
    let mut array = place.create(builder);
    let mut model = Model {
        shape: shape.clone(),
        data: element.repeat(volume(&shape)),
    };
    let mut flushed = model.clone();
    let mut done = vec![format!("{seed}: {shape:?} {chunk:?} {block:?} {kind:?}")];
    for _ in 0..40 {
        done.push(step(&mut array, &mut model, &mut random));
        let what = done.join("; ");
        check(&array, &model, &what);
        let slice = random.slice(&model.shape);
        assert_eq!(
            array.read_slice(&slice).unwrap(),
            model.slice(&slice),
            "{what}"
        );
        match random.upto(5) {
            0 => {
                array.flush().unwrap();
                flushed = model.clone();
                done.push("flush".to_owned());
            }
            1 => {
                drop(array);
                array = place.edit(&options);
                model = flushed.clone();
                done.push("drop".to_owned());
                let report = array.frame().verify(|_| {});
                assert!(report.is_sound(), "{what}: {:?}", report.damages);
                assert!(report.warnings.is_empty(), "{what}: {:?}", report.warnings);
            }
            2 => {
                let copy = NdArray::from_bytes(array.to_bytes().unwrap()).unwrap();
                check(&copy, &model, &what);
            }
            _ => {}
        }
        check(&array, &model, &done.join("; "));
    }
}

#[test]
fn arrays_in_files_are_as_their_model() {
    for seed in 0..150 {
        run(seed, Place::File(Memory::new()));
    }
}

#[test]
fn arrays_in_directories_are_as_their_model() {
    for seed in 1000..1060 {
        run(seed, Place::Folder(Memory::new()));
    }
}
