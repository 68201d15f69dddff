//! A table and its steps.

use super::array::{self, Making, Model, how_few, how_many, is_document};
use super::choices::Choices;
use super::{Flushed, Judge, Step, Tale, boxes, compare, sample};
use bloscpack::dtype::DType;
use bloscpack::storage::Memory;
use bloscpack::{Category, Options, Result};
use bloscpack_open::datasets::{CArray, CTable, Dataset, DatasetLayout};
use serde_json::{Map, Value, json};

/// More rows than this are not worth the time.
const ENOUGH: u64 = 300;

pub fn columns_have_attributes(layout: DatasetLayout) -> bool {
    !is_document(layout)
}

/// Names of columns. In the documented layouts a dot separates nested columns.
const NAMES: [&str; 9] = [
    "a",
    "b.c",
    "b.d",
    "e.f.g",
    "\u{e9}t\u{e9}",
    "data",
    "meta",
    "b",
    "e.f",
];

#[derive(Debug, Clone)]
struct Tables {
    columns: Vec<(String, Model)>,
    rows: u64,
    attributes: Map<String, Value>,
    kept: Vec<String>,
}

struct Run<'a> {
    store: Memory,
    layout: DatasetLayout,
    chunk_rows: u64,
    options: Options,
    table: Option<CTable>,
    now: Tables,
    flushed: Option<Tables>,
    judge: Judge<'a>,
    tale: Tale,
}

/// Whether a table cannot have both: the one is the name of a column around the other.
fn exclude(layout: DatasetLayout, one: &str, other: &str) -> bool {
    let around = |one: &str, other: &str| {
        other
            .strip_prefix(one)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    one == other || (is_document(layout) && (around(one, other) || around(other, one)))
}

/// Columns within the same column are side by side where they are described together.
fn grouped(columns: Vec<(String, Model)>, depth: usize) -> Vec<(String, Model)> {
    let outer = |name: &str| name.split('.').nth(depth).map(str::to_owned);
    let (mut rest, mut all) = (columns, Vec::new());
    while let Some((first, _)) = rest.first() {
        let first = outer(first);
        let same = |(name, _): &(String, Model)| outer(name) == first;
        let (within, others) = rest.into_iter().partition(same);
        rest = others;
        all.extend(if first.is_some() {
            grouped(within, depth + 1)
        } else {
            within
        });
    }
    all
}

/// Makes a table, does these steps to it, and compares.
pub fn run(layout: DatasetLayout, making: &[u8], steps: &[Step], judge: Judge<'_>) {
    let mut choices = Choices::new(making);
    let options = array::options(&mut choices);
    let chunk_rows = choices.pick(&[3, 1, 2, 5, 16]);
    let mut now = Tables {
        columns: Vec::new(),
        rows: 0,
        attributes: Map::new(),
        kept: Vec::new(),
    };
    let mut builder = CTable::builder().layout(layout).options(options.clone());
    if is_document(layout) || choices.yes() {
        builder = builder.chunk_rows(chunk_rows);
    }
    let (mut shared, count) = (None, choices.below(4));
    for _ in 0..count.max(usize::from(is_document(layout))) {
        let name = choices.pick(&NAMES);
        let mut making = Making::column(layout, &mut choices);
        if now
            .columns
            .iter()
            .any(|(known, _)| exclude(layout, known, name))
        {
            continue;
        }
        if is_document(layout) {
            // All superchunks of a table are described together.
            let seed = *shared.get_or_insert_with(|| [(); 8].map(|()| choices.byte()));
            making.builder = array::framed(making.builder, &mut Choices::new(&seed));
        }
        now.columns.push((name.to_owned(), making.model()));
        builder = builder.column(name, making.builder);
    }
    if is_document(layout) {
        now.columns = grouped(now.columns, 0);
    }
    let store = Memory::new();
    let mut tale = Tale::default();
    tale.tell(format!("{builder:?}"));
    let table = builder.create_in(store.clone()).unwrap();
    let mut run = Run {
        store,
        layout,
        chunk_rows,
        options,
        table: Some(table),
        now,
        flushed: None,
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
    fn table(&mut self) -> &mut CTable {
        self.table.as_mut().unwrap()
    }

    /// Nothing if the table is gone.
    fn step(&mut self, kind: u8, choices: &mut Choices<'_>) -> Option<()> {
        match kind % 20 {
            0..=3 => self.append(choices),
            4 | 5 => self.set(choices),
            6 => self.replace(choices),
            7..=9 => self.add_column(choices),
            10 | 11 => self.delete_column(choices),
            12 => self.trim(choices),
            13 => self.resize(choices),
            14 => self.attributes(choices),
            15 => self.column_attributes(choices),
            16 => self.flush(),
            17 => return self.abandon(),
            18 => {
                self.flush();
                self.reopen();
            }
            _ => self.misuse(choices),
        }
        Some(())
    }

    fn append(&mut self, choices: &mut Choices<'_>) {
        let mut count = how_many(self.now.rows, self.chunk_rows, choices);
        if self.now.rows + count > ENOUGH || self.now.columns.is_empty() {
            count = 0;
        }
        let seed = choices.byte();
        let columns = self.now.columns.iter().zip(seed..=255);
        let len = |model: &Model| count as usize * model.row_bytes();
        let data = columns.map(|((_, model), seed)| sample::data(len(model), seed));
        let mut data: Vec<_> = data.collect();
        // There are fewer seeds than that only in the last column.
        data.resize_with(self.now.columns.len(), Vec::new);
        for ((_, model), data) in self.now.columns.iter().zip(&mut data) {
            data.resize(len(model), 7);
        }
        let given: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        self.tale.tell(format!("append {count}"));
        self.table().append(&given).unwrap();
        for ((_, model), data) in self.now.columns.iter_mut().zip(data) {
            model.bytes.extend(data);
        }
        self.now.rows += count;
    }

    fn a_column(&self, choices: &mut Choices<'_>) -> Option<usize> {
        let count = self.now.columns.len();
        (count > 0).then(|| choices.below(count))
    }

    fn set(&mut self, choices: &mut Choices<'_>) {
        let Some(index) = self.a_column(choices) else {
            return;
        };
        let (name, model) = self.now.columns[index].clone();
        let wanted = model.a_box(choices);
        let data = sample::data(boxes::len(model.item, &wanted), choices.byte());
        self.tale.tell(format!("set {name} {wanted:?}"));
        self.table().set_slice(&name, &wanted, &data).unwrap();
        self.now.columns[index].1.set(&wanted, &data);
    }

    fn replace(&mut self, choices: &mut Choices<'_>) {
        let Some(index) = self.a_column(choices) else {
            return;
        };
        let (name, model) = self.now.columns[index].clone();
        let data = sample::data(model.bytes.len(), choices.byte());
        self.tale.tell(format!("replace {name}"));
        self.table().replace_column(&name, &data).unwrap();
        self.now.columns[index].1.bytes = data;
    }

    fn add_column(&mut self, choices: &mut Choices<'_>) {
        let name = choices.pick(&NAMES);
        let how = choices.byte();
        let details = [how; 16].map(|how| how.wrapping_mul(choices.byte() | 1));
        let making = Making::column(self.layout, &mut Choices::new(&details));
        let mut model = making.model();
        let empty = self.now.columns.is_empty();
        let rows = if empty {
            u64::from(how % 8)
        } else {
            self.now.rows
        };
        model.bytes = sample::data(rows as usize * model.row_bytes(), how);
        let taken = self
            .now
            .columns
            .iter()
            .any(|(known, _)| exclude(self.layout, known, name));
        let position = choices.below(self.now.columns.len() + 2);
        let given = (position <= self.now.columns.len()).then_some(position);
        let position = given.unwrap_or(self.now.columns.len());
        let mut wrong = model.bytes.clone();
        wrong.extend(vec![
            1;
            model.row_bytes() + usize::from(empty || choices.yes())
        ]);
        self.tale
            .tell(format!("add {name} at {given:?}: {making:?}"));
        let builder = making.builder;
        if how.is_multiple_of(4) && (!empty || model.row_bytes() > 1) {
            let added = self
                .table()
                .add_column(name, builder.clone(), &wrong, given);
            assert_eq!(
                category(added),
                Some(Category::Usage),
                "another number of rows"
            );
        }
        let added = self.table().add_column(name, builder, &model.bytes, given);
        assert_eq!(
            category(added),
            taken.then_some(Category::Usage),
            "column {name:?}"
        );
        if !taken {
            self.now.kept.retain(|kept| kept != name);
            self.now.columns.insert(position, (name.to_owned(), model));
            self.now.rows = rows;
            if is_document(self.layout) {
                self.now.columns = grouped(std::mem::take(&mut self.now.columns), 0);
            }
        }
    }

    fn delete_column(&mut self, choices: &mut Choices<'_>) {
        let Some(index) = self.a_column(choices) else {
            return;
        };
        let (name, keep) = (self.now.columns[index].0.clone(), choices.below(4) == 3);
        self.tale.tell(format!("delete {name}, keep {keep}"));
        let deleted = self.table().delete_column(&name, keep);
        if is_document(self.layout) && self.now.columns.len() == 1 {
            assert_eq!(category(deleted), Some(Category::Usage), "the last column");
            return;
        }
        deleted.unwrap();
        self.now.columns.remove(index);
        if keep {
            self.now.kept.push(name);
        }
        if self.now.columns.is_empty() {
            self.now.rows = 0;
        }
    }

    fn trim(&mut self, choices: &mut Choices<'_>) {
        let rows = how_few(self.now.rows, self.chunk_rows, choices);
        self.tale.tell(format!("trim {rows}"));
        self.table().trim(rows).unwrap();
        self.now
            .columns
            .iter_mut()
            .for_each(|(_, model)| model.trim(rows));
        self.now.rows = rows;
    }

    fn resize(&mut self, choices: &mut Choices<'_>) {
        let mut rows = how_few(self.now.rows, self.chunk_rows, choices);
        if choices.yes() && !self.now.columns.is_empty() {
            let more = how_many(self.now.rows, self.chunk_rows, choices);
            rows = (self.now.rows + more).min(ENOUGH.max(self.now.rows));
        }
        self.tale.tell(format!("resize {rows}"));
        self.table().resize(rows).unwrap();
        self.now
            .columns
            .iter_mut()
            .for_each(|(_, model)| model.resize(rows));
        self.now.rows = rows;
    }

    fn attributes(&mut self, choices: &mut Choices<'_>) {
        let (key, value) = (choices.pick(&sample::KEYS), sample::value(choices));
        if choices.below(4) == 3 {
            let was_there = self.now.attributes.shift_remove(key).is_some();
            assert_eq!(self.table().remove_attribute(key).unwrap(), was_there);
            return;
        }
        self.table().set_attribute(key, &value).unwrap();
        self.now.attributes.insert(key.to_owned(), value);
    }

    fn column_attributes(&mut self, choices: &mut Choices<'_>) {
        let Some(index) = self.a_column(choices) else {
            return;
        };
        let (key, value) = (choices.pick(&sample::KEYS), sample::value(choices));
        let name = self.now.columns[index].0.clone();
        self.tale.tell(format!("column attribute {name} {key:?}"));
        let set = self.table().set_column_attribute(&name, key, &value);
        if columns_have_attributes(self.layout) {
            set.unwrap();
            self.now.columns[index]
                .1
                .attributes
                .insert(key.to_owned(), value);
        } else {
            assert_eq!(category(set), Some(Category::Usage));
        }
    }

    fn flush(&mut self) {
        self.tale.tell("flush");
        self.table().flush().unwrap();
        self.flushed = Some(self.now.clone());
        self.check_flushed();
        let flushed = flushed(&self.store, self.layout, &self.now);
        (self.judge)(&flushed);
    }

    fn check_flushed(&mut self) {
        if let Some(model) = &self.flushed {
            compare(&flushed(&self.store, self.layout, model), &self.options);
        }
    }

    fn reopen(&mut self) {
        self.tale.tell("reopen");
        self.table = None;
        let dataset = Dataset::edit_in(self.store.clone(), &self.options).unwrap();
        self.table = Some(dataset.into_table().unwrap());
    }

    fn abandon(&mut self) -> Option<()> {
        self.table = None;
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
        let rows = self.now.rows;
        let mut refused = vec![
            self.table().delete_column("nobody", false),
            self.table().set_attribute("deep", &deep()),
            self.table().read_rows(&["nobody"], 0..0).map(drop),
            self.table().append(&[&[][..]; 12]),
        ];
        if let Some(index) = self.a_column(choices) {
            let (name, model) = self.now.columns[index].clone();
            let mut data = vec![Vec::new(); self.now.columns.len()];
            data[index] = vec![1; model.row_bytes()];
            if data.len() > 1 {
                let given: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
                refused.push(self.table().append(&given));
            }
            refused.push(self.table().trim(rows + 1));
            refused.push(self.table().resize(u64::MAX));
            refused.push(
                self.table()
                    .replace_column(&name, &[model.bytes, data.remove(index)].concat()),
            );
            let (builder, empty) = (Making::column(self.layout, choices).builder, &[]);
            if is_document(self.layout) {
                let fields = DType::parse("[('x', '<i4'), ('y', '<f8')]").unwrap();
                let data = vec![0; 12 * rows as usize];
                refused.push(
                    self.table()
                        .add_column("new", CArray::builder(fields), &data, None),
                );
            }
            for bad in ["", "..", "a/b", "\0", "__rootdirs__"] {
                refused.push(self.table().add_column(bad, builder.clone(), empty, None));
            }
            if rows > 0 {
                refused.push(self.table().add_column("new", builder, empty, None));
            }
        }
        for refused in refused {
            assert_eq!(category(refused), Some(Category::Usage));
        }
    }

    fn look(&mut self, what: u8, choices: &mut Choices<'_>) {
        self.tale.tell(format!("look {what:#x}"));
        let table = self.table.as_ref().unwrap();
        let names = self.now.columns.iter().map(|(name, _)| name);
        assert!(table.names().iter().eq(names), "names {:?}", table.names());
        assert_eq!(table.rows().unwrap(), self.now.rows);
        assert_eq!(table.attributes().to_value(), json!(self.now.attributes));
        for (number, (name, model)) in self.now.columns.iter().enumerate() {
            let array = table.column(name).unwrap();
            match what >> (2 * (number % 4)) & 3 {
                0 => {}
                1 | 2 => model.compare(array),
                _ => model.look(array, choices),
            }
        }
        if what & 0xf0 == 0xf0 {
            self.check_flushed();
        }
    }
}

fn category<T>(done: Result<T>) -> Option<Category> {
    done.err().map(|error| error.category())
}

/// Deeper than it would be read again.
fn deep() -> Value {
    (0..200).fold(Value::Null, |inside, _| json!([inside]))
}

fn flushed<'a>(store: &'a Memory, layout: DatasetLayout, model: &'a Tables) -> Flushed<'a> {
    let own = columns_have_attributes(layout);
    let columns = model.columns.iter();
    Flushed {
        store,
        layout,
        is_table: true,
        attributes: json!(model.attributes),
        leaves: columns.map(|(name, model)| model.leaf(name, own)).collect(),
        kept: &model.kept,
    }
}
