//! Tests of the guarantees of the functions and the pipeline, with one thread and with several.

use super::{Panicked, Pipeline, for_each, map_in_order};
use std::thread;
use std::time::Duration;

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
            thread::sleep(Duration::from_micros((job as u64 * 7919) % 300));
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
        thread::sleep(Duration::from_millis(30 - 10 * job.min(3) as u64));
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

/// Takes longer for even numbers, so that results are ready out of order.
fn square(n: u64) -> u64 {
    thread::sleep(Duration::from_micros(if n.is_multiple_of(2) {
        300
    } else {
        10
    }));
    n * n
}

#[test]
fn results_of_a_pipeline_come_in_the_order_of_the_jobs() {
    for threads in [1, 2, 8] {
        let mut pipeline = Pipeline::new(threads, || square);
        let mut results = Vec::new();
        for n in 0..200 {
            while pipeline.is_full() {
                results.push(pipeline.next().unwrap().unwrap());
            }
            pipeline.submit(n);
            assert!(pipeline.under_way() <= pipeline.capacity());
        }
        results.extend(std::iter::from_fn(|| pipeline.next()).map(Result::unwrap));
        let expected: Vec<_> = (0..200).map(|n| n * n).collect();
        assert_eq!(results, expected, "{threads} threads");
    }
}

#[test]
fn one_thread_works_without_starting_any() {
    let here = thread::current().id();
    let mut pipeline = Pipeline::new(1, || |()| thread::current().id());
    pipeline.submit(());
    assert_eq!(pipeline.next().unwrap().unwrap(), here);
}

#[test]
fn a_panic_is_an_error_of_its_job_in_a_pipeline_and_hangs_nothing() {
    for threads in [1, 2] {
        let work = || |n: u32| if n == 1 { panic!("planted") } else { n };
        let mut pipeline = Pipeline::new(threads, work);
        (0..4).for_each(|n| pipeline.submit(n));
        let results: Vec<_> = std::iter::from_fn(|| pipeline.next())
            .map(|r| r.ok())
            .collect();
        assert_eq!(
            results,
            [Some(0), None, Some(2), Some(3)],
            "{threads} threads"
        );
    }
}

#[test]
fn dropping_with_jobs_under_way_joins_the_threads() {
    let mut pipeline = Pipeline::new(4, || square);
    (0..6).for_each(|n| pipeline.submit(n));
    drop(pipeline);
}
