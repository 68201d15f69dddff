//! Tests of the guarantees of both functions, with one thread and with several.

use super::{Panicked, for_each, map_in_order};

#[derive(Debug, PartialEq)]
enum Failure {
    Job(usize),
    Refused,
    Panicked,
}

impl From<Panicked> for Failure {
    fn from(_: Panicked) -> Self {
        Self::Panicked
    }
}

#[test]
fn results_come_in_the_order_of_the_jobs() {
    for threads in 1..5 {
        let mut seen = Vec::new();
        let act = |job: usize| {
            std::thread::sleep(std::time::Duration::from_micros((job as u64 * 7919) % 300));
            Ok::<_, Failure>(job * 2)
        };
        map_in_order(threads, 0..100, act, |made| {
            seen.push(made);
            Ok(())
        })
        .unwrap();
        assert!(seen.into_iter().eq((0..100).map(|job| job * 2)));
    }
}

#[test]
fn the_first_error_ends_the_work() {
    for threads in 1..5 {
        let mut seen = 0;
        let act = |job: usize| match job {
            17 => Err(Failure::Job(job)),
            _ => Ok(job),
        };
        let take = |_| {
            seen += 1;
            Ok(())
        };
        let error = map_in_order(threads, 0..100, act, take).unwrap_err();
        assert_eq!((error, seen), (Failure::Job(17), 17));
        let refused = map_in_order(threads, 0..100, Ok, |_| Err(Failure::Refused));
        assert_eq!(refused, Err(Failure::Refused));
    }
}

#[test]
fn a_panic_is_an_error_on_every_thread() {
    let act = |job: usize| match job {
        3 => panic!("on purpose"),
        _ => Ok(()),
    };
    for threads in 1..5 {
        assert_eq!(
            map_in_order(threads, 0..9, act, Ok),
            Err(Failure::Panicked),
            "{threads}"
        );
        assert_eq!(
            for_each(threads, 0..9, act),
            Err(Failure::Panicked),
            "{threads}"
        );
    }
}

#[test]
fn of_several_errors_that_of_the_first_job_is_returned() {
    let act = |job: usize| {
        // The first takes longest.
        std::thread::sleep(std::time::Duration::from_millis(
            30 - 10 * job.min(3) as u64,
        ));
        Err(Failure::Job(job))
    };
    for threads in 1..5 {
        assert_eq!(
            for_each(threads, 0..4, act),
            Err(Failure::Job(0)),
            "{threads} threads"
        );
    }
}
