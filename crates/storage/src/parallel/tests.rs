//! Tests of the guarantees of the functions and the pipeline, with one thread and with several.

use super::{Crew, Panicked, Pipeline, for_each, map_in_order};
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::{Duration, Instant};

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
    let made = [1, 2, 8].map(|threads| (threads, Pipeline::new(threads, || square)));
    let helped =
        [1, 2, 8].map(|threads| (threads, Pipeline::new(threads, || square).with_caller()));
    for (threads, mut pipeline) in made.into_iter().chain(helped) {
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
        let mut pipeline = Pipeline::new(threads, work).with_caller();
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

/// Wakes a thread.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The next result, for which this thread sleeps until it is woken.
fn polled<R: Send + 'static>(pipeline: &mut Pipeline<u64, R>) -> Option<Result<R, Panicked>> {
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match pipeline.poll_next(&Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park_timeout(Duration::from_secs(60)),
        }
    }
}

#[test]
fn pipelines_on_a_crew_return_results_in_the_order_of_their_jobs() {
    let crew = Arc::new(Crew::new(3));
    let work = |threads| {
        let mut pipeline = Pipeline::new(threads, || square).on(Arc::clone(&crew));
        let mut results = Vec::new();
        for n in 0..200 {
            while pipeline.is_full() {
                results.push(polled(&mut pipeline).unwrap().unwrap());
            }
            pipeline.submit(n);
        }
        results.extend(std::iter::from_fn(|| polled(&mut pipeline)).map(Result::unwrap));
        assert!(results.into_iter().eq((0..200).map(|n| n * n)));
    };
    thread::scope(|scope| {
        let work = &work;
        (1..9).for_each(|threads| drop(scope.spawn(move || work(threads))));
    });
}

#[test]
fn no_job_of_a_pipeline_on_a_crew_runs_on_the_callers_thread() {
    let here = thread::current().id();
    let crew = Arc::new(Crew::new(1));
    let mut pipeline = Pipeline::new(1, || |_| thread::current().id()).on(crew);
    for n in 0..10 {
        pipeline.submit(n);
        assert_ne!(polled(&mut pipeline).unwrap().unwrap(), here);
    }
    assert!(polled(&mut pipeline).is_none());
}

#[test]
fn a_panic_is_an_error_of_its_job_on_a_crew() {
    let work = || |n: u64| if n == 1 { panic!("planted") } else { n };
    let mut pipeline = Pipeline::new(2, work).on(Arc::new(Crew::new(2)));
    (0..4).for_each(|n| pipeline.submit(n));
    let results: Vec<_> = std::iter::from_fn(|| polled(&mut pipeline))
        .map(|r| r.ok())
        .collect();
    assert_eq!(results, [Some(0), None, Some(2), Some(3)]);
}

#[test]
fn dropping_a_pipeline_on_a_crew_waits_for_nothing() {
    let crew = Arc::new(Crew::new(1));
    let sleep = || |_| thread::sleep(Duration::from_millis(300));
    let mut slow = Pipeline::new(4, sleep).on(Arc::clone(&crew));
    (0..4).for_each(|n| slow.submit(n));
    let begun = Instant::now();
    drop(slow);
    assert!(begun.elapsed() < Duration::from_millis(150));
    // Jobs that have not begun never do.
    let mut next = Pipeline::new(1, || |n| n).on(crew);
    next.submit(7_u64);
    assert_eq!(polled(&mut next).unwrap().unwrap(), 7);
    assert!(begun.elapsed() < Duration::from_millis(800));
}
