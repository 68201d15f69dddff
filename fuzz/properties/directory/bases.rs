//! The initial directories: an array and a table in every layout, and one of each that was interrupted.

use super::files::Files;
use bloscpack::storage::Memory;
use bloscpack::{Options, Result, dtype::DType};
use bloscpack_open::datasets::{CArray, CTable, Dataset, DatasetLayout};
use std::sync::{Arc, LazyLock};

use testkit::faulty::{ENOSPC, Fault, FaultyStore, Plan};

static BASES: LazyLock<Vec<Files>> = LazyLock::new(|| {
    let mut bases = vec![Files::default()];
    for layout in DatasetLayout::ALL {
        for is_table in [false, true] {
            let store = Memory::new();
            made(layout, is_table, &store).expect("in memory");
            bases.push(Files::of(&store));
            bases.push(interrupted(&bases[bases.len() - 1]));
        }
    }
    bases
});

/// One of them; they come again and again.
pub fn base(number: u8) -> Files {
    BASES[usize::from(number) % BASES.len()].clone()
}

fn options() -> Options {
    Options::new().threads(1)
}

fn made(layout: DatasetLayout, is_table: bool, store: &Memory) -> Result<()> {
    let rows: Vec<u8> = (0..7u16).flat_map(u16::to_le_bytes).collect();
    let array = |dtype| {
        CArray::builder(dtype)
            .chunk_rows(3)
            .layout(layout)
            .options(options())
    };
    if is_table {
        let table = CTable::builder()
            .layout(layout)
            .options(options())
            .chunk_rows(3);
        let table = table
            .column("a", array(DType::U16))
            .column("b", array(DType::parse("S2")?));
        let mut table = table.create_in(store.clone())?;
        table.append(&[&rows, &rows])?;
        table.set_attribute("unit", &"m".into())?;
        return table.flush();
    }
    let mut array = array(DType::U16).create_in(store.clone())?;
    array.append(&rows)?;
    array.set_attribute("unit", &"m".into())?;
    array.flush()
}

/// The same in the middle of an append, when its journal is there.
fn interrupted(base: &Files) -> Files {
    for first in 0.. {
        let store = base.store();
        let plan = Plan {
            fault: Fault::Error(ENOSPC),
            first,
            lasting: true,
        };
        if append(FaultyStore::new(Arc::new(store.clone()), plan)).is_ok() {
            break;
        }
        let files = Files::of(&store);
        if files.0.keys().any(|key| key.as_str() == ".blpk/journal") {
            return files;
        }
    }
    unreachable!("no journal comes and goes")
}

fn append(store: FaultyStore) -> Result<()> {
    match Dataset::edit_in(store, &options())? {
        Dataset::Array(mut array) => {
            array.append(&[1; 8])?;
            array.flush()
        }
        Dataset::Table(mut table) => {
            table.append(&[&[1; 8], &[2; 8]])?;
            table.flush()
        }
    }
}
