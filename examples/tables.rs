//! Makes a table in a directory that bcolz opens, appends to it, and reads one column.
//!
//! `cargo run --example tables`

use bloscpack_open::datasets::{CArray, CTable};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("prices");

    let mut table = CTable::builder()
        .column("day", CArray::of::<u32>())
        .column("close", CArray::of::<f64>())
        .create(&path)?;
    for day in 0..1000_u32 {
        let close = 100.0 + f64::from(day % 7);
        table.append(&[&day.to_le_bytes()[..], &close.to_le_bytes()])?; // one row
    }
    table.set_attribute("unit", &serde_json::json!("EUR"))?;
    table.flush()?; // all of it at once, also if the power fails

    let table = CTable::open(&path)?;
    let closes = table.column("close")?.to_vec::<f64>(500..505)?;
    println!(
        "{} rows; close of days 500 to 504: {closes:?}",
        table.rows()?
    );
    Ok(())
}
