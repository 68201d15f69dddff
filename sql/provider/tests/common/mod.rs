//! Functions that the tests share.

use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The sum of a metric over all nodes of an executed plan.
pub fn metric(plan: &Arc<dyn ExecutionPlan>, name: &str) -> usize {
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name(name));
    let own = own.map_or(0, |value| value.as_usize());
    own + plan
        .children()
        .into_iter()
        .map(|child| metric(child, name))
        .sum::<usize>()
}
