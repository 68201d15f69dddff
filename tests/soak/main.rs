//! Tests that one long-running process has no more memory and no more open files at the end than at the beginning,
//! after random work of every kind, each compared with a model in memory.
//!
//! Memory requested from the allocator must be returned to the byte; resident memory, which also depends on C
//! libraries and the allocator, must not grow by more than a mebibyte a minute in a long run.
//!
//! 60 rounds by default. `MALLOC_ARENA_MAX=1 BLOSCPACK_SOAK_SECONDS=60` continues for that time, and `--nocapture`
//! shows memory and files each second: `just soak 60`.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::single_range_in_vec_init,
    reason = "a test"
)]

mod heap;
mod work;

use std::fs;
use std::time::{Duration, Instant};
use work::{Dice, Site};

/// Resources in use by the process.
#[derive(Clone, Copy, Debug)]
struct Held {
    seconds: f64,
    /// Resident, in KiB.
    resident: f64,
    /// The part of it that is not allocated: C libraries, and memory kept by the allocator. The rest goes up and down
    /// with the models.
    memory: f64,
    files: usize,
    threads: usize,
}

fn held(begun: Instant) -> Held {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| -> u32 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let resident = f64::from(field("VmRSS:"));
    Held {
        seconds: begun.elapsed().as_secs_f64(),
        resident,
        memory: resident - heap::live() as f64 / 1024.0,
        files: fs::read_dir("/proc/self/fd").unwrap().count(),
        threads: field("Threads:") as usize,
    }
}

/// KiB a minute, by least squares.
fn slope(looks: &[Held]) -> f64 {
    let count = looks.len() as f64;
    let mean = |of: fn(&Held) -> f64| looks.iter().map(of).sum::<f64>() / count;
    let (time, memory) = (mean(|look| look.seconds), mean(|look| look.memory));
    let both = |look: &Held| (look.seconds - time) * (look.memory - memory);
    let square = |look: &Held| (look.seconds - time).powi(2);
    60.0 * looks.iter().map(both).sum::<f64>() / looks.iter().map(square).sum::<f64>()
}

#[test]
fn long_work_takes_no_more_than_short_work() {
    let seconds = std::env::var("BLOSCPACK_SOAK_SECONDS").ok();
    let seconds: Option<u64> = seconds.map(|text| text.parse().unwrap());
    let mut dice = Dice(7);
    // Objects that are created once and kept exist after the first rounds.
    let folder = tempfile::tempdir().unwrap();
    let mut site = Site::new(folder.path());
    (0..20).for_each(|_| site.round(&mut dice));
    drop(site);
    let kept = heap::live();
    let mut site = Site::new(folder.path());
    let begun = Instant::now();
    let (mut looks, mut rounds) = (Vec::new(), 0_u64);
    let first = held(begun);
    loop {
        site.round(&mut dice);
        rounds += 1;
        match seconds {
            Some(seconds) if begun.elapsed() > Duration::from_secs(seconds) => break,
            None if rounds == 60 => break,
            _ => {}
        }
        let is_due = looks
            .last()
            .is_none_or(|look: &Held| begun.elapsed().as_secs_f64() - look.seconds >= 1.0);
        if seconds.is_none() || is_due {
            let look = held(begun);
            println!(
                "{:6.1} s: {:6} KiB, {:6.0} of them nobody's, {} files, {} threads, {rounds} rounds",
                look.seconds, look.resident, look.memory, look.files, look.threads
            );
            looks.push(look);
        }
    }
    drop(site);
    let mut last = held(begun);
    // Threads that have ended may still be exiting.
    while last.threads > first.threads && begun.elapsed().as_secs_f64() < last.seconds + 10.0 {
        std::thread::sleep(Duration::from_millis(10));
        last = Held {
            seconds: last.seconds,
            ..held(begun)
        };
    }
    let noted = looks.capacity() * size_of::<Held>();
    let leaked = heap::live() - kept - noted.cast_signed();
    println!("{leaked} bytes more are in use than at the beginning");
    // A few allocations of this test itself may remain.
    assert!(leaked < 16 * 1024, "{leaked} bytes have leaked");
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        0,
        "something is left"
    );
    assert_eq!((last.files, last.threads), (first.files, first.threads));
    // Each kind of work was done by then, at its largest.
    let warm = &looks[looks.len() / 3..];
    let grown = slope(warm);
    println!(
        "{rounds} rounds, {} operations: {grown:.0} KiB a minute",
        work::DONE.load(std::sync::atomic::Ordering::Relaxed)
    );
    match seconds {
        // Over a short time the noise of the allocator is more than a slope, and so is what each thread keeps for itself.
        Some(seconds) if seconds >= 60 && std::env::var_os("MALLOC_ARENA_MAX").is_some() => {
            assert!(grown < 1024.0, "{grown:.0} KiB a minute")
        }
        _ => {
            let peak = |looks: &[Held]| looks.iter().map(|look| look.memory).fold(0.0, f64::max);
            let (early, late) = warm.split_at(warm.len() / 2);
            assert!(
                peak(late) < peak(early) + 16.0 * 1024.0,
                "{} KiB, then {}",
                peak(early),
                peak(late)
            );
        }
    }
}
