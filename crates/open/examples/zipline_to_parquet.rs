//! Turns a bundle of zipline's into Parquet, with real prices and dates:
//!
//! ```sh
//! cargo run -p bloscpack-open --example zipline_to_parquet --features arrow daily_equities.bcolz daily.parquet
//! cargo run -p bloscpack-open --example zipline_to_parquet --features arrow minute_equities.bcolz minute.parquet opens.txt
//! ```
//!
//! Daily bars are one table; minute bars are one table per asset. A bundle stores prices as integers, 1000 per unit of currency
//! unless its metadata says otherwise, and 0 where there was no trade: such prices become null.
//!
//! Minute bars are stored without times. Old bundles list when the market opened on each day. New ones name a calendar, which
//! is not part of the bundle: then give `opens.txt`, which lists the first minute of each session, in order and in UTC, as
//! `2016-01-04T14:31`, one per line. Without either, each bar gets the number of its session and of the minute in it.

use bloscpack::{Error, Result, dtype::DType};
use bloscpack_open::datasets::CTable;
use bloscpack_open::exchange::{Batch, Column, Schema, Source, TableSource, write_parquet};
use serde_json::Value;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

const PRICES: [&str; 4] = ["open", "high", "low", "close"];
const DAY: u32 = 24 * 60 * 60;
const MINUTE_MS: i64 = 60_000;

#[allow(dead_code, reason = "a test calls what is below")]
fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (bundle, out, opens) = match arguments.as_slice() {
        [bundle, out] => (bundle, out, None),
        [bundle, out, opens] => (bundle, out, Some(opens.as_path())),
        _ => return Err("usage: zipline_to_parquet BUNDLE.bcolz OUT.parquet [OPENS.txt]".into()),
    };
    let rows = convert(bundle, out, opens)?;
    println!("{}: {rows} bars", out.display());
    Ok(())
}

/// Writes all bars of a bundle, and returns how many.
pub fn convert(bundle: &Path, out: &Path, opens: Option<&Path>) -> Result<u64> {
    if bundle.join("__rootdirs__").exists() {
        let table = CTable::open(bundle)?;
        return write(&mut Daily::new(&table)?, out);
    }
    let mut bars = Minutes::new(bundle, opens)?;
    if bars.opens.is_none() {
        eprintln!(
            "the bundle does not tell when the market opened: bars are numbered by session and minute"
        );
    }
    write(&mut bars, out)
}

fn write(bars: &mut dyn Source, out: &Path) -> Result<u64> {
    write_parquet(bars, File::create(out)?, &mut |_| ())?;
    bars.known_rows()
}

fn schema(first: Vec<Column>) -> Schema {
    let prices = PRICES.map(|name| Column::new(name, DType::F64).nan_as_null());
    let volume = Column::new("volume", DType::U32);
    Schema::table([first, prices.to_vec(), vec![volume]].concat())
}

fn wrong(what: &str) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, what).into()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|number| u32::from_le_bytes(*number))
}

/// Prices in units of currency; NaN where there was no trade.
fn prices(bytes: &[u8], ratio: f64) -> Vec<u8> {
    let prices = numbers(bytes).map(|price| match price {
        0 => f64::NAN,
        price => f64::from(price) / ratio,
    });
    prices.flat_map(f64::to_le_bytes).collect()
}

/// Daily bars: columns `open`, `high`, `low`, `close`, `volume`, `day` and `id`.
struct Daily<'a> {
    table: TableSource<'a>,
    schema: Schema,
}

impl<'a> Daily<'a> {
    fn new(table: &'a CTable) -> Result<Self> {
        let names = [&["id", "day"], &PRICES[..], &["volume"]].concat();
        for name in &names {
            if *table.column(name)?.dtype() != DType::U32 {
                return Err(wrong("columns of a bundle are of uint32"));
            }
        }
        let day = Column::new("day", DType::parse("datetime64[D]")?);
        Ok(Self {
            table: table.source_of(&names)?,
            schema: schema(vec![Column::new("sid", DType::U32), day]),
        })
    }
}

impl Source for Daily<'_> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        self.table.rows()
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        // Prices become twice as long.
        let Some(mut batch) = self.table.next_batch(bytes / 2)? else {
            return Ok(None);
        };
        if let [_, day, bars @ .., _] = batch.columns.as_mut_slice() {
            if numbers(day).any(|seconds| seconds % DAY != 0) {
                return Err(wrong("a day that does not begin at midnight"));
            }
            let days = numbers(day).map(|seconds| i64::from(seconds / DAY));
            *day = days.flat_map(i64::to_le_bytes).collect();
            bars.iter_mut().for_each(|bar| *bar = prices(bar, 1000.0));
        }
        Ok(Some(batch))
    }
}

/// Minute bars: a table for each asset.
struct Minutes {
    /// Each asset with the path and the number of rows of its table.
    assets: Vec<(u32, PathBuf, u64)>,
    metadata: Value,
    /// The number of minutes of a session.
    per_day: u64,
    /// The first minute of each session, in milliseconds since 1970.
    opens: Option<Vec<i64>>,
    schema: Schema,
    /// The number of the next asset, and of the next of its rows.
    at: (usize, u64),
}

impl Minutes {
    fn new(bundle: &Path, opens: Option<&Path>) -> Result<Self> {
        let text = std::fs::read(bundle.join("metadata.json"))?;
        let metadata: Value = serde_json::from_slice(&text).map_err(io::Error::from)?;
        let opens = match opens {
            Some(file) => Some(listed(file)?),
            None => metadata["market_opens"].as_array().map(|minutes| {
                let minutes = minutes.iter().filter_map(Value::as_i64);
                minutes.map(|minute| minute * MINUTE_MS).collect()
            }),
        };
        let mut first = vec![Column::new("sid", DType::U32)];
        match opens {
            Some(_) => first.push(Column::new("minute", DType::parse("datetime64[ms]")?)),
            None => {
                first.push(Column::new("session", DType::U32));
                first.push(Column::new("minute_of_session", DType::U32));
            }
        }
        let per_day = metadata["minutes_per_day"].as_u64().unwrap_or(390);
        Ok(Self {
            assets: assets(bundle)?,
            per_day: per_day.clamp(1, 24 * 60),
            opens,
            schema: schema(first),
            metadata,
            at: (0, 0),
        })
    }

    /// The stored integer for one unit of currency.
    fn ratio(&self, sid: u32) -> f64 {
        let own = self.metadata["ohlc_ratios_per_sid"].get(sid.to_string());
        let all = &self.metadata["ohlc_ratio"];
        own.unwrap_or(all).as_f64().unwrap_or(1000.0)
    }

    /// The times of these rows: one column of moments, or two with session and minute.
    fn times(&self, rows: std::ops::Range<u64>) -> Result<Vec<Vec<u8>>> {
        let (mut moments, mut sessions, mut minutes) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let (session, minute) = (row / self.per_day, row % self.per_day);
            let (session, minute) = (narrow(session)?, narrow(minute)?);
            let Some(opens) = &self.opens else {
                sessions.extend(session.to_le_bytes());
                minutes.extend(minute.to_le_bytes());
                continue;
            };
            let open = opens.get(session as usize);
            let open = open.ok_or_else(|| wrong("more sessions than the market opened"))?;
            moments.extend((open + i64::from(minute) * MINUTE_MS).to_le_bytes());
        }
        Ok(match self.opens {
            Some(_) => vec![moments],
            None => vec![sessions, minutes],
        })
    }
}

fn narrow(number: u64) -> Result<u32> {
    u32::try_from(number).map_err(|_| wrong("more bars than there can be"))
}

/// The first minutes of sessions that a file lists.
fn listed(file: &Path) -> Result<Vec<i64>> {
    let dtype = DType::parse("datetime64[ms]")?;
    let text = std::fs::read_to_string(file)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let opens = lines.map(|line| {
        let mut moment = [0; 8];
        dtype.parse_text(line, &mut moment)?;
        Ok(i64::from_le_bytes(moment))
    });
    opens.collect()
}

/// The tables `SS/SS/SSSSSS.bcolz`, by asset.
fn assets(bundle: &Path) -> Result<Vec<(u32, PathBuf, u64)>> {
    let mut found = Vec::new();
    let mut folders = vec![bundle.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match name.strip_suffix(".bcolz").map(str::parse) {
                Some(Ok(sid)) => {
                    let rows = CTable::open(&path)?.rows()?;
                    found.push((sid, path, rows));
                }
                // Other programs leave files there whose names begin with a dot.
                _ if path.is_dir() && name.len() == 2 && !name.starts_with('.') => {
                    folders.push(path);
                }
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Source for Minutes {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.assets.iter().map(|(_, _, rows)| rows).sum())
    }

    fn next_batch(&mut self, bytes: usize) -> Result<Option<Batch>> {
        let (asset, from) = self.at;
        let Some((sid, path, there)) = self.assets.get(asset) else {
            return Ok(None);
        };
        let most = bytes as u64 / self.schema.row_bytes();
        let to = from.saturating_add(most.max(1)).min(*there);
        let table = CTable::open(path)?;
        let names = [&PRICES[..], &["volume"]].concat();
        for name in &names {
            if *table.column(name)?.dtype() != DType::U32 {
                return Err(wrong("columns of a bundle are of uint32"));
            }
        }
        let mut bars = table.read_rows(&names, from..to)?;
        let ratio = self.ratio(*sid);
        bars.iter_mut()
            .take(PRICES.len())
            .for_each(|bar| *bar = prices(bar, ratio));
        let sids = (from..to).flat_map(|_| sid.to_le_bytes()).collect();
        let columns = [vec![sids], self.times(from..to)?, bars].concat();
        self.at = if to == *there {
            (asset + 1, 0)
        } else {
            (asset, to)
        };
        let rows = to - from;
        Ok(Some(Batch {
            rows,
            columns,
            ..Batch::default()
        }))
    }
}
