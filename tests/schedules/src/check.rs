//! Runs models.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// The models to be run, and how many have failed.
pub struct Models {
    /// The part that the names of the models contain.
    wanted: String,
    run: AtomicUsize,
    failed: AtomicUsize,
}

impl Models {
    pub fn new() -> Self {
        Self {
            wanted: std::env::args().nth(1).unwrap_or_default(),
            run: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
        }
    }

    /// Prints how many models have failed.
    pub fn end(&self) {
        let (run, failed) = (self.run.load(Relaxed), self.failed.load(Relaxed));
        println!("{run} models, {failed} of them failed");
        if failed > 0 || run == 0 {
            std::process::exit(1);
        }
    }

    /// Runs a model in every order that makes a difference, except for those in which threads are
    /// interrupted more often than `LOOM_MAX_PREEMPTIONS`.
    #[cfg(feature = "loom")]
    pub fn check(&self, name: &str, model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.max_branches = 100_000;
        let most = builder.preemption_bound;
        let how = most.map_or("all".to_owned(), |most| format!("{most} preemptions"));
        self.run(name, &how, &Arc::new(model), |model| builder.check(model));
    }

    /// Runs a model under as many schedules as `BLOSCPACK_SCHEDULES` says, half of them random, half by
    /// PCT, which finds bugs that need few but particular changes of threads. The seed is random; a
    /// failure prints its schedule.
    #[cfg(feature = "shuttle")]
    pub fn check(&self, name: &str, model: impl Fn() + Send + Sync + 'static) {
        self.check_with(schedules(), name, model);
    }

    /// Runs a model that has many steps, under a twentieth of the schedules.
    #[cfg(feature = "readers")]
    pub fn check_long(&self, name: &str, model: impl Fn() + Send + Sync + 'static) {
        self.check_with(schedules().div_ceil(20), name, model);
    }

    #[cfg(feature = "shuttle")]
    fn check_with(&self, count: usize, name: &str, model: impl Fn() + Send + Sync + 'static) {
        use shuttle::scheduler::{PctScheduler, RandomScheduler};
        let half = count / 2;
        let model = Arc::new(model);
        self.run(name, "random", &model, |model| {
            let scheduler = RandomScheduler::new(count - half);
            shuttle::Runner::new(scheduler, config()).run(model);
        });
        self.run(name, "PCT", &model, |model| {
            let scheduler = PctScheduler::new(3, half);
            shuttle::Runner::new(scheduler, config()).run(model);
        });
    }

    /// Runs a model in one order after another, whether or not it makes a difference: in every order
    /// if there are at most ten times as many as `BLOSCPACK_SCHEDULES` says.
    #[cfg(feature = "shuttle")]
    pub fn check_all(&self, name: &str, model: impl Fn() + Send + Sync + 'static) {
        let most = schedules() * 10;
        let how = format!("all, or the first {most}");
        self.run(name, &how, &Arc::new(model), |model| {
            let scheduler = shuttle::scheduler::DfsScheduler::new(Some(most), false);
            shuttle::Runner::new(scheduler, config()).run(model);
        });
    }

    fn run(
        &self,
        name: &str,
        how: &str,
        model: &Arc<impl Fn() + Send + Sync + 'static>,
        run: impl FnOnce(Box<dyn Fn() + Send + Sync>),
    ) {
        if !name.contains(&self.wanted) {
            return;
        }
        self.run.fetch_add(1, Relaxed);
        let (begun, count) = (Instant::now(), Arc::new(AtomicUsize::new(0)));
        let (counter, model) = (Arc::clone(&count), Arc::clone(model));
        let counted = move || {
            counter.fetch_add(1, Relaxed);
            model();
        };
        let done = catch_unwind(AssertUnwindSafe(|| run(Box::new(counted))));
        let time = begun.elapsed().as_secs_f32();
        let count = count.load(Relaxed);
        match done {
            Ok(()) => println!("{name}: {count} schedules ({how}), {time:.1} s"),
            Err(_) => {
                self.failed.fetch_add(1, Relaxed);
                println!("{name}: FAILED in schedule {count} ({how}), {time:.1} s");
            }
        }
    }
}

#[cfg(feature = "shuttle")]
fn schedules() -> usize {
    let count = std::env::var("BLOSCPACK_SCHEDULES");
    count.map_or(100_000, |count| count.parse().unwrap())
}

#[cfg(feature = "shuttle")]
fn config() -> shuttle::Config {
    let mut config = shuttle::Config::new();
    // Code that forgets to wait for a thread would otherwise spin for very long.
    config.max_steps = shuttle::MaxSteps::FailAfter(20_000);
    config
}
