//! An array in a frame, and the same in memory: after any operations on both, they have the same content.
//!
//! Bytes encode the steps, so that proptest can shrink them and a fuzzer can change them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

mod dice;
mod home;
mod making;
mod plain;

pub use dice::Dice;
pub use home::{Home, Place};
pub use plain::run as run_plain;

use bloscpack::{Category, Options};
use bloscpack_open::frames::{ArrayKind, NdArray};
use making::{Making, blocks, chunks, element, elements};
use ndarray::{ArrayD, ArrayViewD, Axis, Slice, concatenate};
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum size of an element in bytes.
pub const MOST_BYTES: usize = 17;
/// The maximum number of elements in an array.
const MOST_ELEMENTS: u64 = 1500;

/// An element, of which as many bytes count as the array's have.
pub type Cell = [u8; MOST_BYTES];
type Layers = BTreeMap<String, Vec<u8>>;

/// The expected content of an array, and its metadata.
#[derive(Clone, PartialEq, Debug)]
struct Content {
    elements: ArrayD<Cell>,
    layers: Layers,
    vllayers: Layers,
}

struct Model {
    array: Option<NdArray>,
    itemsize: usize,
    options: Options,
    home: Home,
    now: Content,
    saved: Content,
}

/// Makes an array according to the first bytes, then performs each of the steps.
pub fn run(making: &[u8], steps: &[impl AsRef<[u8]>], place: Place) {
    let mut model = Model::new(&mut Dice::new(making), place);
    for step in steps {
        model.step(&mut Dice::new(step.as_ref()));
        model.compare_some(&mut Dice::new(step.as_ref()));
    }
    model.flush();
    model.compare_all();
    model.others_see_what_is_saved();
    let report = model.array().frame().verify(|_| {});
    assert!(report.is_sound(), "{:?}", report.damages);
}

fn bytes(elements: &ArrayViewD<'_, Cell>, itemsize: usize) -> Vec<u8> {
    elements
        .iter()
        .flat_map(|cell| cell[..itemsize].iter().copied())
        .collect()
}

fn part<'a>(elements: &'a ArrayD<Cell>, slice: &[Range<u64>]) -> ArrayViewD<'a, Cell> {
    elements.slice_each_axis(|axis| cut(&slice[axis.axis.index()]))
}

fn cut(range: &Range<u64>) -> Slice {
    Slice::from(range.start as usize..range.end as usize)
}

fn shape_of(elements: &ArrayD<Cell>) -> Vec<u64> {
    elements.shape().iter().map(|len| *len as u64).collect()
}

/// A box in an array of this shape; most often not empty.
fn slice(dice: &mut Dice<'_>, shape: &[u64]) -> Vec<Range<u64>> {
    let axes = shape.iter().map(|len| {
        if dice.below(4) == 0 {
            return 0..*len;
        }
        let start = dice.below(*len as usize + 1) as u64;
        start..start + dice.below((*len - start) as usize + 1) as u64
    });
    axes.collect()
}

impl Model {
    fn new(dice: &mut Dice<'_>, place: Place) -> Self {
        let making = Making::at(dice);
        let home = Home::new(place);
        let array = home.create(making.builder());
        let content = Content {
            elements: making.elements(),
            layers: making.layers.clone(),
            vllayers: making.vllayers.clone(),
        };
        Self {
            array: Some(array),
            itemsize: making.itemsize.into(),
            options: making.options,
            home,
            now: content.clone(),
            saved: content,
        }
    }

    fn array(&self) -> &NdArray {
        self.array.as_ref().unwrap()
    }

    fn edit(&mut self) -> &mut NdArray {
        self.array.as_mut().unwrap()
    }

    fn shape(&self) -> Vec<u64> {
        shape_of(&self.now.elements)
    }

    fn step(&mut self, dice: &mut Dice<'_>) {
        match dice.below(19) {
            0 => self.compare_some(dice),
            1 | 2 => self.write(dice),
            3 => self.fill(dice),
            4 | 5 => self.resize(dice),
            6 => self.insert(dice, true),
            7 | 8 => self.insert(dice, false),
            9 | 10 => self.delete(dice),
            11 => self.select(dice),
            12 => self.set_selection(dice),
            13 => self.squeeze(),
            14 => self.copy(dice),
            15 => self.metadata(dice),
            16 => self.flush(),
            17 => self.reopen(dice),
            _ => self.refused(dice),
        }
    }

    fn compare_some(&mut self, dice: &mut Dice<'_>) {
        assert_eq!(self.array().shape(), self.shape());
        let slice = slice(dice, &self.shape());
        let expected = bytes(&part(&self.now.elements, &slice), self.itemsize);
        let found = self.array().read_slice(&slice).unwrap();
        assert!(found == expected, "{slice:?} of {:?}", self.shape());
    }

    fn compare_all(&self) {
        check(self.array(), &self.now, self.itemsize);
    }

    fn others_see_what_is_saved(&self) {
        if let Some(array) = self.home.read(&self.options) {
            check(&array, &self.saved, self.itemsize);
        }
    }

    fn write(&mut self, dice: &mut Dice<'_>) {
        let slice = slice(dice, &self.shape());
        let lens: Vec<usize> = slice.iter().map(|r| (r.end - r.start) as usize).collect();
        let cells = elements(dice, &lens);
        let data = bytes(&cells.view(), self.itemsize);
        self.edit().write_slice(&slice, &data).unwrap();
        let mut place = self
            .now
            .elements
            .slice_each_axis_mut(|axis| cut(&slice[axis.axis.index()]));
        place.assign(&cells);
    }

    fn fill(&mut self, dice: &mut Dice<'_>) {
        let slice = slice(dice, &self.shape());
        let cell = element(dice);
        let itemsize = self.itemsize;
        self.edit().fill_slice(&slice, &cell[..itemsize]).unwrap();
        let mut place = self
            .now
            .elements
            .slice_each_axis_mut(|axis| cut(&slice[axis.axis.index()]));
        place.fill(cell);
    }

    fn resize(&mut self, dice: &mut Dice<'_>) {
        let mut shape = self.shape();
        for axis in 0..shape.len() {
            let others: u64 = others(&shape, axis);
            shape[axis] = match dice.below(8) {
                0 | 1 => shape[axis],
                2 => 0,
                _ => dice.below((MOST_ELEMENTS / others).min(60) as usize + 1) as u64,
            };
        }
        self.edit().resize(&shape).unwrap();
        let common: Vec<Range<u64>> = shape
            .iter()
            .zip(self.shape())
            .map(|(new, old)| 0..old.min(*new))
            .collect();
        let lens: Vec<usize> = shape.iter().map(|len| *len as usize).collect();
        let mut resized = ArrayD::from_elem(lens, [0; MOST_BYTES]);
        resized
            .slice_each_axis_mut(|axis| cut(&common[axis.axis.index()]))
            .assign(&part(&self.now.elements, &common));
        self.now.elements = resized;
    }

    fn insert(&mut self, dice: &mut Dice<'_>, at_the_end: bool) {
        let shape = self.shape();
        if shape.is_empty() {
            return;
        }
        let axis = dice.below(shape.len());
        let chunk = u64::from(self.array().chunk_shape()[axis]);
        let (mut at, room) = (
            dice.below(shape[axis] as usize + 1) as u64,
            MOST_ELEMENTS.saturating_sub(shape.iter().product()) / others(&shape, axis),
        );
        let mut count = dice.below(room.min(20) as usize + 1) as u64;
        if dice.below(2) == 0 {
            at = at / chunk * chunk;
            count = (count / chunk).max(1) * chunk;
            if count > room {
                return;
            }
        }
        if at_the_end {
            at = shape[axis];
        }
        let mut lens = self.now.elements.shape().to_vec();
        lens[axis] = count as usize;
        let cells = elements(dice, &lens);
        let data = bytes(&cells.view(), self.itemsize);
        if at_the_end {
            self.edit().append(axis, &data).unwrap()
        } else {
            self.edit().insert(axis, at, &data).unwrap()
        }
        // The shape of empty data is ambiguous.
        if data.is_empty() {
            return;
        }
        let (before, behind) = self.now.elements.view().split_at(Axis(axis), at as usize);
        self.now.elements = concatenate(Axis(axis), &[before, cells.view(), behind]).unwrap();
    }

    fn delete(&mut self, dice: &mut Dice<'_>) {
        let shape = self.shape();
        if shape.is_empty() {
            return;
        }
        let axis = dice.below(shape.len());
        let chunk = u64::from(self.array().chunk_shape()[axis]);
        let mut start = dice.below(shape[axis] as usize + 1) as u64;
        let mut end = start + dice.below((shape[axis] - start) as usize + 1) as u64;
        if dice.below(2) == 0 {
            start = start / chunk * chunk;
            end = (end / chunk * chunk).max(start);
        }
        self.edit().delete(axis, start..end).unwrap();
        let view = self.now.elements.view();
        let (before, rest) = view.split_at(Axis(axis), start as usize);
        let (_, behind) = rest.split_at(Axis(axis), (end - start) as usize);
        self.now.elements = concatenate(Axis(axis), &[before, behind]).unwrap();
    }

    /// Positions of each axis, in any order, some twice; none of an axis without elements.
    fn positions(&self, dice: &mut Dice<'_>) -> Vec<Vec<u64>> {
        let shape = self.shape();
        let axes = shape.iter().map(|len| {
            let count = match len {
                0 => 0,
                _ => dice.below(5),
            };
            let mut one = || dice.below(*len as usize) as u64;
            (0..count).map(|_| one()).collect()
        });
        axes.collect()
    }

    fn select(&mut self, dice: &mut Dice<'_>) {
        let positions = self.positions(dice);
        let told: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
        let found = self.array().select(&told).unwrap();
        let mut expected = self.now.elements.clone();
        for (axis, positions) in positions.iter().enumerate() {
            let positions: Vec<usize> = positions.iter().map(|at| *at as usize).collect();
            expected = expected.select(Axis(axis), &positions);
        }
        assert!(
            found == bytes(&expected.view(), self.itemsize),
            "{positions:?}"
        );
    }

    fn set_selection(&mut self, dice: &mut Dice<'_>) {
        let positions = self.positions(dice);
        let told: Vec<&[u64]> = positions.iter().map(Vec::as_slice).collect();
        let lens: Vec<usize> = positions.iter().map(Vec::len).collect();
        let cells = elements(dice, &lens);
        let data = bytes(&cells.view(), self.itemsize);
        self.edit().set_selection(&told, &data).unwrap();
        for (index, cell) in cells.indexed_iter() {
            let axes = positions.iter().enumerate();
            let at: Vec<usize> = axes.map(|(axis, all)| all[index[axis]] as usize).collect();
            self.now.elements[at.as_slice()] = *cell;
        }
    }

    fn squeeze(&mut self) {
        let shape = self.shape();
        let array = self.array();
        let single: Vec<usize> = (0..shape.len()).filter(|axis| shape[*axis] == 1).collect();
        let can = single.iter().all(|axis| array.chunk_shape()[*axis] == 1)
            && (single.len() < shape.len() || array.kind() == ArrayKind::B2nd || single.is_empty());
        let squeezed = self.edit().squeeze();
        if !can {
            assert_eq!(squeezed.unwrap_err().category(), Category::Usage);
            return;
        }
        squeezed.unwrap();
        let lens: Vec<usize> = shape
            .iter()
            .enumerate()
            .filter(|(axis, _)| !single.contains(axis))
            .map(|(_, len)| *len as usize)
            .collect();
        let cells = self.now.elements.iter().copied().collect();
        self.now.elements = ArrayD::from_shape_vec(lens, cells).unwrap();
    }

    fn copy(&mut self, dice: &mut Dice<'_>) {
        let shape = self.shape();
        let mut builder = self.array().like().unwrap();
        if dice.below(3) > 0 {
            let chunk = chunks(dice, &shape);
            builder = builder
                .chunk_shape(&chunk)
                .block_shape(&blocks(dice, &chunk));
        }
        if dice.below(3) == 0 && !shape.is_empty() {
            builder = builder.kind(match self.array().kind() {
                ArrayKind::Caterva => ArrayKind::B2nd,
                ArrayKind::B2nd => ArrayKind::Caterva,
            });
        }
        let mut copy = builder.options(self.options.clone()).in_memory().unwrap();
        self.array().copy_to(&mut copy).unwrap();
        check(&copy, &self.now, self.itemsize);
        let bytes = copy.to_bytes().unwrap();
        let report = copy.frame().verify(|_| {});
        assert!(report.is_sound(), "{:?}", report.damages);
        check(
            &NdArray::from_bytes(bytes).unwrap(),
            &self.now,
            self.itemsize,
        );
        // Including changes that are not flushed.
        let bytes = self.edit().to_bytes().unwrap();
        check(
            &NdArray::from_bytes(bytes).unwrap(),
            &self.now,
            self.itemsize,
        );
        self.compare_all();
    }

    fn metadata(&mut self, dice: &mut Dice<'_>) {
        let name = ["a", "unit", "a name of as many as 31 bytes.."][dice.below(3)];
        let value = dice.bytes(60);
        match dice.below(4) {
            0 => {
                self.edit().set_metalayer(name, value.clone()).unwrap();
                self.now.layers.insert(name.to_owned(), value);
            }
            1 | 2 => {
                let value = value.repeat(1 + dice.below(9));
                self.edit().set_vlmetalayer(name, &value).unwrap();
                self.now.vllayers.insert(name.to_owned(), value);
            }
            _ => {
                let removed = self.edit().remove_vlmetalayer(name).unwrap();
                assert_eq!(removed, self.now.vllayers.remove(name).is_some());
            }
        }
    }

    fn flush(&mut self) {
        self.edit().flush().unwrap();
        self.saved = self.now.clone();
    }

    /// Drops the array, flushed or not, checks that other readers see the flushed state, and continues.
    fn reopen(&mut self, dice: &mut Dice<'_>) {
        if !self.home.lasts() {
            return;
        }
        if dice.below(2) == 0 {
            self.flush();
        } else {
            // While it is being changed.
            self.others_see_what_is_saved();
        }
        drop(self.array.take());
        self.others_see_what_is_saved();
        self.array = Some(self.home.edit(&self.options));
        self.now = self.saved.clone();
        self.compare_all();
    }

    /// Invalid operations are reported, and change nothing.
    fn refused(&mut self, dice: &mut Dice<'_>) {
        let (shape, itemsize) = (self.shape(), self.itemsize);
        let mut whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
        let all = bytes(&self.now.elements.view(), itemsize);
        let array = self.edit();
        let mut refusals = vec![
            array.write_slice(&whole, &vec![1; all.len() + 1]),
            array.fill_slice(&whole, &vec![1; itemsize + 1]),
            array.resize(&[&shape[..], &[1]].concat()),
            array.append(shape.len(), &all),
            array.delete(shape.len(), 0..0),
            array.set_metalayer("", vec![]),
            array.set_metalayer(array.kind().name(), vec![]),
        ];
        if !shape.is_empty() {
            let axis = dice.below(shape.len());
            let len = shape[axis];
            refusals.push(array.delete(axis, 0..len + 1));
            refusals.push(array.insert(axis, len + 1, &all));
            refusals.push(array.set_selection(&vec![&[u64::MAX][..]; shape.len()], &all));
            let mut most = shape.clone();
            most[axis] = u64::MAX;
            if others(&most[..], axis) > 0 && !shape.contains(&0) {
                refusals.push(array.resize(&most));
            }
            whole[axis] = len..len + 1;
            refusals.push(array.write_slice(&whole, &all));
            refusals.push(array.read_slice(&whole).map(|_| ()));
        }
        for refusal in refusals {
            let error = refusal.unwrap_err();
            assert_eq!(error.category(), Category::Usage, "{error}");
        }
    }
}

/// Elements of what an axis is made of.
fn others(shape: &[u64], axis: usize) -> u64 {
    let others = shape.iter().enumerate().filter(|(other, _)| *other != axis);
    others.map(|(_, len)| *len).product::<u64>().max(1)
}

fn check(array: &NdArray, content: &Content, itemsize: usize) {
    let shape = shape_of(&content.elements);
    assert_eq!(array.shape(), shape);
    let whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
    let found = array.read_slice(&whole).unwrap();
    assert!(
        found == bytes(&content.elements.view(), itemsize),
        "elements"
    );
    let frame = array.frame();
    let layers: Layers = frame
        .metalayers()
        .iter()
        .filter(|(name, _)| *name != array.kind().name())
        .map(|(name, value)| (name.to_owned(), value.to_vec()))
        .collect();
    assert_eq!(layers, content.layers);
    let vllayers: Layers = frame
        .vlmetalayers()
        .map(|name| (name.to_owned(), frame.vlmetalayer(name).unwrap().unwrap()))
        .collect();
    assert_eq!(vllayers, content.vllayers);
}
