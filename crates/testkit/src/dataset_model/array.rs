//! An array and its steps.

use super::choices::Choices;
use super::{Flushed, Judge, Leaf, Step, Tale, boxes, compare, sample};
use bloscpack::storage::Memory;
use bloscpack::{Category, Checksum, Options, dtype::DType};
use bloscpack_open::datasets::{CArray, CArrayBuilder, Dataset, DatasetLayout};
use serde_json::{Map, Value, json};
use std::num::NonZeroU64;
use std::ops::Range;

/// More elements than this are not worth the time.
const ENOUGH: u64 = 60_000;

/// How an array is made.
#[derive(Debug, Clone)]
pub struct Making {
    pub builder: CArrayBuilder,
    pub layout: DatasetLayout,
    pub row_shape: Vec<u64>,
    pub chunk_rows: u64,
    pub item: usize,
    /// A row of it.
    pub default: Vec<u8>,
    pub attributes: Map<String, Value>,
}

/// The expected content of an array.
#[derive(Debug, Clone)]
pub struct Model {
    pub item: usize,
    pub row_shape: Vec<u64>,
    pub bytes: Vec<u8>,
    pub default: Vec<u8>,
    pub attributes: Map<String, Value>,
}

pub fn leaf_of(name: &str, array: &CArray, own_attributes: bool) -> Leaf {
    assert!(array.warnings().is_empty());
    Leaf {
        name: name.to_owned(),
        shape: array.shape().to_vec(),
        bytes: array.read_rows(0..array.rows()).unwrap(),
        attributes: own_attributes.then(|| array.attributes().to_value()),
    }
}

pub fn options(choices: &mut Choices<'_>) -> Options {
    let options = Options::new().threads(choices.pick(&[1, 3]));
    match choices.below(3) {
        0 => options,
        1 => options.cache(0),
        _ => options.cache(3000),
    }
}

/// Sets options of the documented layouts at random.
pub fn framed(builder: CArrayBuilder, choices: &mut Choices<'_>) -> CArrayBuilder {
    let (checksum, offsets) = (choices.pick(&Checksum::ALL), !choices.yes());
    let spare = if offsets && choices.yes() {
        choices.part(100) as u32
    } else {
        0
    };
    let chunks = NonZeroU64::new(1 + choices.below(5) as u64).unwrap();
    let builder = builder.checksum(checksum).offsets(offsets);
    builder.spare(spare).superchunk(chunks)
}

pub fn is_document(layout: DatasetLayout) -> bool {
    matches!(
        layout,
        DatasetLayout::BlzDocument | DatasetLayout::CarrayDocument
    )
}

impl Making {
    pub fn new(layout: DatasetLayout, choices: &mut Choices<'_>) -> Self {
        let dtype = sample::dtype(choices);
        let axes = [0, 0, 1, 2][choices.below(4)];
        let row_shape: Vec<u64> = (0..axes).map(|_| 1 + choices.below(4) as u64).collect();
        let chunk_rows = choices.pick(&[3, 1, 2, 5, 7, 16, 64, 3000]);
        let builder = CArray::builder(dtype.clone());
        let builder = match layout {
            DatasetLayout::CarrayDocument if axes > 0 => {
                let sides = row_shape.iter().map(|side| 1 + choices.part(*side));
                builder.chunk_shape(&[vec![chunk_rows], sides.collect()].concat())
            }
            _ => builder.chunk_rows(chunk_rows),
        };
        Self::of(
            builder,
            (layout, dtype, row_shape, chunk_rows),
            (true, choices),
        )
    }

    /// A column of a table.
    pub fn column(layout: DatasetLayout, choices: &mut Choices<'_>) -> Self {
        let mut dtype = sample::dtype(choices);
        if is_document(layout) && dtype.fields().is_some() {
            // Its fields would be columns.
            dtype = DType::I16;
        }
        let axes = match layout {
            DatasetLayout::CarrayDocument => 0,
            _ => [0, 0, 0, 1, 2][choices.below(5)],
        };
        let row_shape: Vec<u64> = (0..axes).map(|_| 1 + choices.below(3) as u64).collect();
        let chunk_rows = choices.pick(&[3, 1, 2, 5, 16]);
        let builder = CArray::builder(dtype.clone()).chunk_rows(chunk_rows);
        // Columns that are described together have no place for a default each.
        let has_default = !is_document(layout);
        Self::of(
            builder,
            (layout, dtype, row_shape, chunk_rows),
            (has_default, choices),
        )
    }

    fn of(
        builder: CArrayBuilder,
        (layout, dtype, row_shape, chunk_rows): (DatasetLayout, DType, Vec<u64>, u64),
        (has_default, choices): (bool, &mut Choices<'_>),
    ) -> Self {
        let (compressor, filter, level) = sample::press(layout, choices);
        let mut builder = builder
            .row_shape(&row_shape)
            .layout(layout)
            .compressor(compressor)
            .filter(filter)
            .level(level);
        if is_document(layout) {
            builder = framed(builder, choices);
        }
        if choices.yes() {
            builder = builder.expected_rows(choices.part(1 << 30));
        }
        let item = dtype.itemsize() as usize;
        let len = row_shape.iter().product::<u64>() as usize;
        let mut default = vec![0; item * len];
        if has_default && choices.yes() {
            let element = sample::element(&dtype, choices);
            default = element.repeat(len);
            builder = builder.default_element(&element);
        } else if has_default
            && choices.yes()
            && matches!(layout, DatasetLayout::Blz | DatasetLayout::BlzDocument)
        {
            // bcolz has one element for all of a row.
            let row = (0..len).flat_map(|_| sample::element(&dtype, choices));
            default = row.collect();
            builder = builder.default_element(&default);
        }
        Self {
            builder,
            layout,
            row_shape,
            chunk_rows,
            item,
            default,
            attributes: Map::new(),
        }
    }

    pub fn model(&self) -> Model {
        Model {
            item: self.item,
            row_shape: self.row_shape.clone(),
            bytes: Vec::new(),
            default: self.default.clone(),
            attributes: self.attributes.clone(),
        }
    }
}

impl Model {
    pub fn row_bytes(&self) -> usize {
        self.item * self.row_shape.iter().product::<u64>() as usize
    }

    pub fn rows(&self) -> u64 {
        (self.bytes.len() / self.row_bytes()) as u64
    }

    pub fn shape(&self) -> Vec<u64> {
        [&[self.rows()], &self.row_shape[..]].concat()
    }

    pub fn trim(&mut self, rows: u64) {
        self.bytes.truncate(rows as usize * self.row_bytes());
    }

    pub fn resize(&mut self, rows: u64) {
        self.trim(rows);
        for _ in self.rows()..rows {
            self.bytes.extend_from_slice(&self.default);
        }
    }

    /// A box of it.
    pub fn a_box(&self, choices: &mut Choices<'_>) -> Vec<Range<u64>> {
        let range = |side: u64, choices: &mut Choices<'_>| {
            let (one, other) = (choices.part(side), choices.part(side));
            one.min(other)..one.max(other)
        };
        let whole = choices.yes();
        let shape = self.shape();
        let sides = shape.iter().enumerate();
        let sides = sides.map(|(axis, side)| {
            if axis > 0 && whole {
                0..*side
            } else {
                range(*side, choices)
            }
        });
        sides.collect()
    }

    pub fn get(&self, wanted: &[Range<u64>]) -> Vec<u8> {
        boxes::get(&self.bytes, &self.shape(), self.item, wanted)
    }

    pub fn set(&mut self, wanted: &[Range<u64>], new: &[u8]) {
        let shape = self.shape();
        boxes::set(&mut self.bytes, &shape, self.item, wanted, new);
    }

    pub fn leaf(&self, name: &str, own_attributes: bool) -> Leaf {
        Leaf {
            name: name.to_owned(),
            shape: self.shape(),
            bytes: self.bytes.clone(),
            attributes: own_attributes.then(|| json!(self.attributes)),
        }
    }

    /// Compares some boxes, on a handle that may have unflushed changes.
    pub fn look(&self, array: &CArray, choices: &mut Choices<'_>) {
        assert_eq!(array.shape(), self.shape(), "shape");
        for _ in 0..3 {
            let wanted = self.a_box(choices);
            let found = array.read_slice(&wanted).unwrap();
            assert!(
                found == self.get(&wanted),
                "{wanted:?} of {:?}",
                self.shape()
            );
        }
        let rows = choices.part(self.rows())..self.rows();
        let from = rows.start as usize * self.row_bytes();
        assert!(
            array.read_rows(rows.clone()).unwrap() == self.bytes[from..],
            "rows {rows:?}"
        );
    }

    pub fn compare(&self, array: &CArray) {
        assert_eq!(array.shape(), self.shape(), "shape");
        let found = array.read_rows(0..array.rows()).unwrap();
        assert!(found == self.bytes, "all rows");
        assert_eq!(
            array.attributes().to_value(),
            json!(self.attributes),
            "attributes"
        );
    }
}

/// How many rows to append: around the borders of chunks, and none.
pub fn how_many(rows: u64, chunk: u64, choices: &mut Choices<'_>) -> u64 {
    let missing = chunk - rows % chunk;
    let count = match choices.below(8) {
        0 => missing,
        1 => missing + 1,
        2 => missing - 1,
        3 => missing + 2 * chunk,
        4 => 0,
        5 => missing + 5 * chunk + 1,
        _ => choices.part(3 * chunk),
    };
    count.min(chunk * 12)
}

/// How many rows are to stay.
pub fn how_few(rows: u64, chunk: u64, choices: &mut Choices<'_>) -> u64 {
    match choices.below(4) {
        0 => rows / chunk * chunk,
        1 => rows.saturating_sub(1) / chunk * chunk,
        2 => choices.part(rows),
        _ => choices.part(rows) / chunk * chunk,
    }
}

struct Run<'a> {
    store: Memory,
    making: Making,
    options: Options,
    array: Option<CArray>,
    now: Model,
    /// The state at the last flush.
    flushed: Option<Model>,
    judge: Judge<'a>,
    tale: Tale,
}

/// Makes an array, does these steps to it, and compares.
pub fn run(layout: DatasetLayout, making: &[u8], steps: &[Step], judge: Judge<'_>) {
    let mut choices = Choices::new(making);
    let options = options(&mut choices);
    let making = Making::new(layout, &mut choices);
    let store = Memory::new();
    let mut tale = Tale::default();
    tale.tell(format!("{making:?}"));
    let builder = making.builder.clone().options(options.clone());
    let array = builder.create_in(store.clone()).unwrap();
    let mut run = Run {
        now: making.model(),
        flushed: None,
        array: Some(array),
        store,
        making,
        options,
        judge,
        tale,
    };
    for step in steps {
        let mut choices = Choices::new(&step[2..]);
        if run.step(step[0], &mut choices).is_none() {
            return;
        }
        run.look(step[1], &mut choices);
    }
    run.flush();
}

impl Run<'_> {
    fn array(&mut self) -> &mut CArray {
        self.array.as_mut().unwrap()
    }

    /// Nothing if the array is gone.
    fn step(&mut self, kind: u8, choices: &mut Choices<'_>) -> Option<()> {
        match kind % 15 {
            0..=3 => self.append(choices),
            4 | 5 => self.set(choices),
            6 => self.trim(choices),
            7 => self.resize(choices),
            8 => self.set_attribute(choices),
            9 => self.remove_attribute(choices),
            10 => self.flush(),
            11 => return self.abandon(),
            12 => {
                self.flush();
                self.reopen();
            }
            13 => self.misuse(choices),
            _ => {
                self.flush();
                self.append(choices);
                return self.abandon();
            }
        }
        Some(())
    }

    fn append(&mut self, choices: &mut Choices<'_>) {
        let mut count = how_many(self.now.rows(), self.making.chunk_rows, choices);
        let row = self.now.row_bytes();
        let room = ENOUGH.saturating_sub(self.now.bytes.len() as u64) / row as u64;
        if count > room {
            count = count.min(1);
        }
        let data = sample::data(count as usize * row, choices.byte());
        self.tale.tell(format!("append {count}"));
        self.array().append(&data).unwrap();
        self.now.bytes.extend(data);
    }

    fn set(&mut self, choices: &mut Choices<'_>) {
        let wanted = self.now.a_box(choices);
        let data = sample::data(boxes::len(self.now.item, &wanted), choices.byte());
        self.tale.tell(format!("set {wanted:?}"));
        self.array().set_slice(&wanted, &data).unwrap();
        self.now.set(&wanted, &data);
    }

    fn trim(&mut self, choices: &mut Choices<'_>) {
        let rows = how_few(self.now.rows(), self.making.chunk_rows, choices);
        self.tale.tell(format!("trim {rows}"));
        self.array().trim(rows).unwrap();
        self.now.trim(rows);
    }

    fn resize(&mut self, choices: &mut Choices<'_>) {
        let rows = if choices.yes() {
            how_few(self.now.rows(), self.making.chunk_rows, choices)
        } else {
            let more = how_many(self.now.rows(), self.making.chunk_rows, choices);
            let room = ENOUGH / self.now.row_bytes() as u64;
            self.now.rows() + more.min(room.saturating_sub(self.now.rows()))
        };
        self.tale.tell(format!("resize {rows}"));
        self.array().resize(rows).unwrap();
        self.now.resize(rows);
    }

    fn set_attribute(&mut self, choices: &mut Choices<'_>) {
        let (key, value) = (choices.pick(&sample::KEYS), sample::value(choices));
        self.tale.tell(format!("attribute {key:?} {value}"));
        self.array().set_attribute(key, &value).unwrap();
        self.now.attributes.insert(key.to_owned(), value);
    }

    fn remove_attribute(&mut self, choices: &mut Choices<'_>) {
        let key = choices.pick(&sample::KEYS);
        let was_there = self.now.attributes.shift_remove(key).is_some();
        assert_eq!(self.array().remove_attribute(key).unwrap(), was_there);
    }

    fn flush(&mut self) {
        self.tale.tell("flush");
        self.array().flush().unwrap();
        self.flushed = Some(self.now.clone());
        self.check_flushed();
        let flushed = flushed(&self.store, self.making.layout, &self.now);
        (self.judge)(&flushed);
    }

    /// Checks that other readers see the last flushed state.
    fn check_flushed(&mut self) {
        if let Some(model) = &self.flushed {
            compare(
                &flushed(&self.store, self.making.layout, model),
                &self.options,
            );
        }
    }

    fn reopen(&mut self) {
        self.tale.tell("reopen");
        self.array = None;
        let dataset = Dataset::edit_in(self.store.clone(), &self.options).unwrap();
        self.array = Some(dataset.into_array().unwrap());
    }

    fn abandon(&mut self) -> Option<()> {
        self.array = None;
        let Some(flushed) = &self.flushed else {
            assert_eq!(self.store.keys(), [], "a dataset that was never flushed");
            return None;
        };
        self.now = flushed.clone();
        self.reopen();
        Some(())
    }

    /// Invalid operations change nothing.
    fn misuse(&mut self, choices: &mut Choices<'_>) {
        self.tale.tell("misuse");
        let (rows, row) = (self.now.rows(), self.now.row_bytes());
        let mut beyond = self.now.a_box(choices);
        let data = vec![1; boxes::len(self.now.item, &beyond) + 1];
        let array = self.array();
        let mut refused = vec![array.trim(rows + 1), array.set_slice(&beyond, &data)];
        if row > 1 {
            refused.push(array.append(&data[..1]));
        }
        beyond[0].end = rows + 1;
        let data = vec![1; boxes::len(row, &[beyond[0].clone()])];
        refused.push(array.set_slice(&beyond, &data));
        refused.push(array.set_slice(&[], &[]));
        refused.push(array.read_rows(rows..rows + 1).map(drop));
        refused.push(array.resize(u64::MAX));
        for refused in refused {
            assert_eq!(refused.unwrap_err().category(), Category::Usage);
        }
    }

    fn look(&mut self, what: u8, choices: &mut Choices<'_>) {
        self.tale.tell(format!("look {:#x}", what & 0xf));
        let array = self.array.as_ref().unwrap();
        if what & 1 != 0 {
            self.now.compare(array);
        }
        if what & 2 != 0 {
            self.now.look(array, choices);
        }
        if what & 0xc == 0xc {
            self.check_flushed();
        }
    }
}

fn flushed<'a>(store: &'a Memory, layout: DatasetLayout, model: &Model) -> Flushed<'a> {
    Flushed {
        store,
        layout,
        is_table: false,
        attributes: json!(model.attributes),
        leaves: vec![model.leaf("", false)],
        kept: &[],
    }
}
