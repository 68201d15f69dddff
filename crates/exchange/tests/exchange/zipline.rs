//! Tests of the example that converts bundles of zipline into Parquet.

use super::Held;
use bloscpack_datasets::CTable;
use bloscpack_exchange::{ImportOptions, open};
use std::path::{Path, PathBuf};

#[path = "../../../open/examples/zipline_to_parquet.rs"]
mod example;

const PRICES: [&str; 4] = ["open", "high", "low", "close"];

fn bundle(name: &str) -> PathBuf {
    testkit::testdata("datasets/bcolz").join(name)
}

fn converted(bundle: &Path, opens: Option<&str>) -> (Held, u64) {
    let folder = tempfile::tempdir().unwrap();
    let (out, list) = (
        folder.path().join("out.parquet"),
        folder.path().join("opens.txt"),
    );
    let opens = opens.map(|text| {
        std::fs::write(&list, text).unwrap();
        list.as_path()
    });
    let rows = example::convert(bundle, &out, opens).unwrap();
    let mut source = open(&out, &ImportOptions::new()).unwrap();
    (Held::of(&mut *source, 1 << 20).unwrap(), rows)
}

fn floats(held: &Held, name: &str) -> Vec<f64> {
    let (_, bytes) = held.column(name);
    bytes
        .as_chunks::<8>()
        .0
        .iter()
        .map(|float| f64::from_le_bytes(*float))
        .collect()
}

/// Numbers of a column as NumPy saved them, where the corpora are unpacked.
fn saved(name: &str) -> Option<Vec<u32>> {
    let folder = testkit::corpus::part("bcolz")?;
    let file = std::fs::read(folder.join(name)).unwrap();
    let start = 10 + u16::from_le_bytes([file[8], file[9]]) as usize;
    let numbers = file[start..].as_chunks::<4>().0;
    Some(
        numbers
            .iter()
            .map(|number| u32::from_le_bytes(*number))
            .collect(),
    )
}

fn check_prices(found: &[f64], stored: &[u32]) {
    assert_eq!(found.len(), stored.len());
    for (found, stored) in found.iter().zip(stored) {
        match stored {
            0 => assert!(found.is_nan()),
            _ => assert_eq!(*found, f64::from(*stored) / 1000.0),
        }
    }
}

#[test]
fn bars_of_days_have_dates_and_prices() {
    // By the attributes `last_row` of the two.
    for (name, there) in [
        ("zipline_daily_equities.bcolz", 920u64),
        ("z113_zipline_daily_equities.bcolz", 957),
    ] {
        let (held, rows) = converted(&bundle(name), None);
        let table = CTable::open(bundle(name)).unwrap();
        assert_eq!((rows, held.rows), (there, there));
        let names: Vec<_> = held
            .schema
            .columns
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(
            names,
            ["sid", "day", "open", "high", "low", "close", "volume"]
        );
        let columns = ["id", "day", "volume"];
        let read = table.read_rows(&columns, 0..there).unwrap();
        assert_eq!(held.column("sid").1, read[0]);
        assert_eq!(held.column("volume").1, read[2]);
        // The first session of 2016.
        assert_eq!(held.column("day").0.dtype.to_string(), "datetime64[D]");
        let days: Vec<u32> = read[1]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|it| u32::from_le_bytes(*it))
            .collect();
        let found = held.column("day").1.as_chunks::<8>().0.iter();
        let found: Vec<i64> = found.map(|it| i64::from_le_bytes(*it) * 86_400).collect();
        assert!(
            found
                .iter()
                .zip(&days)
                .all(|(found, day)| *found == i64::from(*day))
        );
        for price in PRICES {
            let own = table
                .column(price)
                .unwrap()
                .to_vec::<u32>(0..there)
                .unwrap();
            check_prices(&floats(&held, price), &own);
            if let Some(stored) = saved(&format!("{name}.{price}.npy")) {
                check_prices(&floats(&held, price), &stored);
            }
        }
    }
}

#[test]
fn bars_of_minutes_have_times_if_they_are_known() {
    let name = "zipline_minute_equities.bcolz";
    let (held, rows) = converted(&bundle(name), None);
    // One asset, five sessions of 390 minutes.
    assert_eq!((rows, held.rows), (1950, 1950));
    assert_eq!(held.texts("sid")[0], "2");
    assert_eq!(held.texts("session")[389..391], ["0", "1"]);
    assert_eq!(held.texts("minute_of_session")[389..391], ["389", "0"]);
    for price in PRICES {
        let table = CTable::open(bundle(name).join("00/00/000002.bcolz")).unwrap();
        let own = table.column(price).unwrap().to_vec::<u32>(0..1950).unwrap();
        check_prices(&floats(&held, price), &own);
        if let Some(stored) = saved(&format!("{name}__00__00__000002.bcolz.{price}.npy")) {
            check_prices(&floats(&held, price), &stored);
        }
    }
    let opens = "2016-01-04T14:31\n2016-01-05T14:31\n2016-01-06T14:31\n2016-01-07T14:31\n2016-01-08T14:31\n";
    let (held, _) = converted(&bundle(name), Some(opens));
    let minutes = held.texts("minute");
    assert_eq!(minutes[0], "2016-01-04T14:31:00.000");
    assert_eq!(minutes[389], "2016-01-04T21:00:00.000");
    assert_eq!(minutes[1949], "2016-01-08T21:00:00.000");
}
