//! [`ByName`]: stops filters from reaching another column of the same name.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties,
};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// The rules of DataFusion that push filters to scans.
const RULES: [&str; 2] = ["FilterPushdown", "FilterPushdown(Post)"];

/// A rule that pushes filters down and identifies columns by name.
///
/// If the output of a node, such as a join, has a name twice, the rule would take the first column of that name. Filters
/// therefore stay above such nodes.
#[derive(Debug)]
struct ByName(Arc<dyn PhysicalOptimizerRule + Send + Sync>);

/// The rules of a session, or the defaults. Those that push filters down are wrapped in [`ByName`].
pub(crate) fn rules(
    of_session: Option<PhysicalOptimizer>,
) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let rules = of_session.unwrap_or_default().rules.into_iter();
    let rules = rules.map(|rule| {
        if RULES.contains(&rule.name()) {
            Arc::new(ByName(rule))
        } else {
            rule
        }
    });
    rules.collect()
}

impl PhysicalOptimizerRule for ByName {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let root = Arc::clone(&plan);
        let cut = plan.transform_down(|node| {
            if Arc::ptr_eq(&node, &root) || !has_a_name_twice(&node) {
                return Ok(Transformed::no(node));
            }
            let whole: Arc<dyn ExecutionPlan> = Arc::new(Cut(self.optimize(node, config)?));
            Ok(Transformed::new(whole, true, TreeNodeRecursion::Jump))
        })?;
        let pushed = self.0.optimize(cut.data, config)?;
        let whole = pushed.transform_up(|node| {
            Ok(match node.downcast_ref::<Cut>() {
                Some(Cut(below)) => Transformed::yes(Arc::clone(below)),
                None => Transformed::no(node),
            })
        })?;
        Ok(whole.data)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

fn has_a_name_twice(node: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = node.schema();
    let mut names = HashSet::new();
    !schema
        .fields()
        .iter()
        .all(|field| names.insert(field.name().as_str()))
}

/// A subtree that takes no filters while they are pushed down in the part above it.
#[derive(Debug)]
struct Cut(Arc<dyn ExecutionPlan>);

impl DisplayAs for Cut {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_as(form, f)
    }
}

impl ExecutionPlan for Cut {
    fn name(&self) -> &str {
        "Cut"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a plan whose parts were not put together")
    }
}
