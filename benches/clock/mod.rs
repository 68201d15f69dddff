//! What work costs, and programs that take turns. `benches/kit/measure.py` reads what this prints.
#![allow(dead_code, reason = "each bench uses a part of it")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::unwrap_used,
    reason = "a bench fails by panicking"
)]

use std::fmt::{Display, Formatter, Result};
use std::sync::LazyLock;
use std::time::Instant;

/// Work is repeated until a measurement takes at least this many seconds.
const STRETCH: f64 = 0.004;

/// The CPU time of this thread, which other programs disturb less than wall time.
pub fn seconds() -> f64 {
    cpu(false)
}

#[cfg(unix)]
fn cpu(of_all_threads: bool) -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(if of_all_threads {
        ClockId::ProcessCPUTime
    } else {
        ClockId::ThreadCPUTime
    });
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[cfg(not(unix))]
fn cpu(_: bool) -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// The minor page faults of this process; 0 where the system does not tell.
fn faults() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, which may contain spaces, ends with the last bracket.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let count = fields.split_whitespace().nth(7);
    count.and_then(|count| count.parse().ok()).unwrap_or(0.0)
}

/// Wall seconds, CPU seconds of all threads, and minor page faults.
#[derive(Clone, Copy, Default)]
pub struct Took {
    pub wall: f64,
    pub cpu: f64,
    pub faults: f64,
}

impl Took {
    /// What this process has cost until now.
    pub fn now() -> Self {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        Self {
            faults: faults(),
            cpu: cpu(true),
            wall: START.elapsed().as_secs_f64(),
        }
    }

    /// What the process has cost since `earlier`.
    pub fn since(earlier: Self) -> Self {
        let now = Self::now();
        Self {
            wall: now.wall - earlier.wall,
            cpu: now.cpu - earlier.cpu,
            faults: now.faults - earlier.faults,
        }
    }

    /// Runs something and adds its cost.
    pub fn add<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let before = Self::now();
        let done = act();
        let took = Self::since(before);
        self.wall += took.wall;
        self.cpu += took.cpu;
        self.faults += took.faults;
        done
    }
}

/// The fields of a JSON object.
impl Display for Took {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let Self { wall, cpu, faults } = self;
        write!(
            out,
            r#""wall": {wall:e}, "cpu": {cpu:e}, "faults": {faults}"#
        )
    }
}

/// Whether the name contains all words of the command line.
pub fn is_wanted(name: &str) -> bool {
    let mut words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    words.all(|word| name.contains(&word))
}

/// Lets programs take turns and prints a line for each run; `run` gets the place of a program. A first run of each does
/// not count. The environment variable `ROUNDS` sets the number of rounds.
pub fn in_turn(task: &str, programs: &[&str], more: &str, run: &mut dyn FnMut(usize)) {
    if !is_wanted(task) {
        return;
    }
    let rounds = std::env::var("ROUNDS").map_or(9, |rounds| rounds.parse().unwrap());
    let mut once = f64::INFINITY;
    for at in 0..programs.len() {
        run(at);
        let mut took = Took::default();
        took.add(|| run(at));
        once = once.min(took.wall.max(1e-7));
    }
    let times = (STRETCH / once).ceil() as u32;
    for round in 0..rounds {
        for at in (0..programs.len()).map(|step| (round + step) % programs.len()) {
            let mut took = Took::default();
            took.add(|| (0..times).for_each(|_| run(at)));
            let each = |sum| sum / f64::from(times);
            let took = Took {
                wall: each(took.wall),
                cpu: each(took.cpu),
                faults: each(took.faults),
            };
            let program = programs[at];
            println!(r#"{{"task": "{task}", "program": "{program}", {took}{more}}}"#);
        }
    }
}
