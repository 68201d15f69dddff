//! Time and space of records and of their peers, on whole files.

mod contenders;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::clock::Took;
use crate::data::{Records, numbers};
use crate::table::{Table, bytes, median};
pub use contenders::{Contender, View, all, sweep};

/// The view that the others are compared with; it is always measured.
const QUICK: &str = "quick";
/// Contenders whose CPU time varies by more from round to round are measured again, and marked if it still does.
const SPREAD: f64 = 1.5;

/// Options of a benchmark.
pub struct Bench {
    pub contenders: Vec<Contender>,
    pub rounds: usize,
}

impl Bench {
    /// Prints the table of one data set.
    pub fn run(&self, name: &str, records: &Records) -> Result<()> {
        let (count, total) = (records.len(), records.values.len());
        println!(
            "## {name}: {} records, {} bytes",
            bytes(count),
            bytes(total)
        );
        println!();
        let folder = Folder::new()?;
        let mut rows = BTreeMap::<_, Vec<Run>>::new();
        for again in [false, true] {
            let old = std::mem::take(&mut rows);
            let places = 0..self.contenders.len();
            let is_wide = |at| {
                old.range((at, 0)..(at + 1, 0))
                    .any(|row| spread(row.1) > SPREAD)
            };
            let wanted: Vec<_> = places.filter(|at| !again || is_wide(*at)).collect();
            // The first round warms up.
            for round in 0..=self.rounds {
                for &place in &wanted {
                    let contender = &self.contenders[place];
                    for (view, run) in
                        self.measure(contender, records, &folder.0, !again && round == 0)?
                    {
                        let runs = rows.entry((place, view)).or_default();
                        if round > 0 {
                            runs.push(run);
                        }
                    }
                }
            }
            for (key, runs) in old {
                rows.entry(key).or_insert(runs);
            }
        }
        print(records, &self.contenders, &rows);
        Ok(())
    }

    /// Packs a file once, and reads it in each way.
    fn measure(
        &self,
        contender: &Contender,
        records: &Records,
        folder: &Path,
        check: bool,
    ) -> Result<Vec<(usize, Run)>> {
        let path = folder.join("records");
        let overhead = overhead(contender, records, &path)?;
        let mut pack = Took::default();
        pack.add(|| (contender.pack)(records, &path))?;
        let size = std::fs::metadata(&path)?.len() as usize;
        let mut runs = vec![];
        for (index, view) in contender.views.iter().enumerate() {
            let numbers = numbers(records.len(), view.gets);
            if check {
                check_all(records, view, &path, &numbers)?;
            }
            let (scan, gets) = self.read(view, &path, &numbers)?;
            let run = Run {
                size,
                overhead,
                pack,
                scan,
                gets,
            };
            runs.push((index, run));
        }
        std::fs::remove_file(&path)?;
        Ok(runs)
    }

    /// The cost of a scan and of all gets, each with a newly opened reader.
    fn read(&self, view: &View, path: &Path, numbers: &[usize]) -> Result<(Took, Took)> {
        let mut each = |record: &[u8]| {
            black_box(record);
        };
        let (mut scan, mut gets) = (Took::default(), Took::default());
        scan.add(|| (view.open)(path)?.scan(&mut each))?;
        if !numbers.is_empty() {
            gets.add(|| (view.open)(path)?.gets(numbers, &mut each))?;
        }
        Ok((scan, gets))
    }
}

impl Contender {
    /// Whether it is the reference, or has a view whose name contains this word.
    pub fn has_view(&self, word: &str) -> bool {
        let mut names = self.views.iter().map(|view| view.name.as_str());
        names.any(|name| name == QUICK || name.contains(word))
    }
}

/// The measurements of one round for one way to read a file.
struct Run {
    size: usize,
    /// Bytes per record in addition to its own, before compression.
    overhead: Option<f64>,
    pack: Took,
    scan: Took,
    gets: Took,
}

/// The largest spread of packing and scanning: the CPU time of the slowest round divided by that of the fastest.
fn spread(runs: &[Run]) -> f64 {
    let of = |part: fn(&Run) -> Took| {
        let times = || runs.iter().map(|run| part(run).cpu);
        times().fold(0.0, f64::max) / times().fold(f64::INFINITY, f64::min)
    };
    of(|run| run.pack).max(of(|run| run.scan))
}

/// The bytes stored without compression, minus the records themselves, per record.
fn overhead(contender: &Contender, records: &Records, path: &Path) -> Result<Option<f64>> {
    let Some(store) = &contender.store else {
        return Ok(None);
    };
    store(records, path)?;
    let size = std::fs::metadata(path)?.len() as usize;
    std::fs::remove_file(path)?;
    let beside = size - records.values.len();
    Ok(Some(beside as f64 / records.len() as f64))
}

/// Checks that a scan returns all records, and gets return the requested ones.
fn check_all(records: &Records, view: &View, path: &Path, numbers: &[usize]) -> Result<()> {
    let mut next = 0;
    (view.open)(path)?.scan(&mut |record| {
        assert!(record == records.get(next), "{}: record {next}", view.name);
        next += 1;
    })?;
    assert_eq!(next, records.len(), "{}", view.name);
    let mut expected = numbers.iter();
    (view.open)(path)?.gets(numbers, &mut |record| {
        let number = *expected.next().expect("no more than were asked for");
        assert!(
            record == records.get(number),
            "{}: record {number}",
            view.name
        );
    })?;
    assert_eq!(expected.len(), 0, "{}", view.name);
    Ok(())
}

fn print(records: &Records, contenders: &[Contender], rows: &BTreeMap<(usize, usize), Vec<Run>>) {
    let name = |(place, view): (usize, usize)| contenders[place].views[view].name.as_str();
    let quick = rows.iter().find(|(key, _)| name(**key) == QUICK);
    let quick = quick.map(|(_, runs)| runs);
    let total = records.values.len() as f64;
    let mut table = Table::new([
        "", "size", "of bytes", "overhead", "pack s", "CPU s", "scan s", "CPU s", "faults", "gets",
        "µs/get", "CPU µs", "pack ×", "scan ×", "get ×",
    ]);
    for (&(place, view), runs) in rows {
        let gets = contenders[place].views[view].gets;
        let of = |each: &dyn Fn(&Run) -> f64| median(runs.iter().map(each).collect());
        let each_get = |seconds: f64| match gets {
            0 => f64::NAN,
            gets => seconds * 1e6 / gets as f64,
        };
        // CPU time divided by ours in the same round.
        let times = |each: &dyn Fn(&Run) -> f64| {
            let pairs = runs.iter().zip(quick.into_iter().flatten());
            median(pairs.map(|(run, ours)| each(run) / each(ours)).collect())
        };
        let mark = if spread(runs) > SPREAD { " †" } else { "" };
        table.row([
            format!("{}{mark}", name((place, view))),
            bytes(runs[0].size),
            format!("{:.4}", runs[0].size as f64 / total),
            number(runs[0].overhead.unwrap_or(f64::NAN), 2),
            number(of(&|run| run.pack.wall), 3),
            number(of(&|run| run.pack.cpu), 3),
            number(of(&|run| run.scan.wall), 3),
            number(of(&|run| run.scan.cpu), 3),
            number(of(&|run| run.scan.faults), 0),
            bytes(gets),
            number(of(&|run| each_get(run.gets.wall)), 2),
            number(of(&|run| each_get(run.gets.cpu)), 2),
            number(times(&|run| run.pack.cpu), 2),
            number(times(&|run| run.scan.cpu), 2),
            number(times(&|run| each_get(run.gets.cpu)), 2),
        ]);
    }
    table.print();
}

/// A number with so many decimals, or nothing for NaN.
fn number(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "–".into();
    }
    format!("{value:.digits$}")
}

/// A folder for the measured files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("records-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system clears the remains of a failed run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
