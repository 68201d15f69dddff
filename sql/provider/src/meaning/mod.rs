//! [`OneMeaning`]: gives floats and overflow the same meaning everywhere in a plan, as in DuckDB.
//!
//! DataFusion's operators compare floats by several rules: some by their bits, some in the total order of IEEE 754, some
//! after replacing -0.0. Which operator sees a row depends on the plan, on indexes, and on timing. This rule wraps each
//! float that is compared, sorted, grouped or joined in [`Function::Comparable`], after which all operators agree. The
//! output of a query still has the original values.

mod failure;
mod functions;

pub(crate) use failure::cannot_fail;
pub(crate) use functions::{Function, comparable as comparable_array, functions, has_floats};

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode as _, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinConstraint, Result, ScalarValue, TableReference};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::{
    AggregateFunction, AggregateFunctionParams, GroupingSet, InList, InSubquery, SetComparison,
    WindowFunction, WindowFunctionParams,
};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, merge_schema, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, AggregateUDF, Between, BinaryExpr, Distinct, DistinctOn, Expr, ExprSchemable as _,
    Filter, Join, LogicalPlan, Operator, Projection, Sort, SortExpr, Subquery, Window,
    WindowFunctionDefinition, cast, lit, when,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// Functions that compare several values, and aggregates that compare the values of rows.
const COMPARING: [&str; 25] = [
    "greatest",
    "least",
    "array_distinct",
    "array_except",
    "array_has",
    "array_has_all",
    "array_has_any",
    "array_intersect",
    "array_max",
    "array_min",
    "array_position",
    "array_positions",
    "array_remove",
    "array_remove_all",
    "array_remove_n",
    "array_replace",
    "array_replace_all",
    "array_replace_n",
    "array_sort",
    "array_union",
    "approx_distinct",
    "approx_median",
    "approx_percentile_cont",
    "median",
    "percentile_cont",
];

/// The analyzer rule that gives floats and overflow one meaning.
#[derive(Debug)]
pub(crate) struct OneMeaning;

impl AnalyzerRule for OneMeaning {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(node)?.data)
    }

    fn name(&self) -> &str {
        "one_meaning"
    }
}

/// Rewrites a node whose inputs were already rewritten.
fn node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&plan.inputs());
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let expr = expr.transform_up(|expr| expression(expr, &schema))?;
        Ok(expr.update_data(|expr| name.restore(expr)))
    })?;
    let plan = match plan.data {
        LogicalPlan::Aggregate(node) => aggregate(node)?,
        LogicalPlan::Window(node) => window(node)?,
        LogicalPlan::Distinct(node) => distinct(node)?,
        LogicalPlan::Filter(node) if node.predicate.contains_outer() => correlated(node)?,
        LogicalPlan::Join(node) => join(node)?,
        LogicalPlan::Sort(Sort { expr, input, fetch }) => LogicalPlan::Sort(Sort {
            expr: sorted(expr, input.schema())?,
            input,
            fetch,
        }),
        other => other,
    };
    Ok(Transformed::yes(plan.recompute_schema()?))
}

/// Rewrites an expression whose parts were already rewritten.
fn expression(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let boxed = |expr: Box<Expr>| comparable(*expr, schema).map(Box::new);
    let all = |exprs: Vec<Expr>| {
        let exprs = exprs.into_iter().map(|expr| comparable(expr, schema));
        exprs.collect::<Result<Vec<_>>>()
    };
    Ok(Transformed::yes(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            Expr::BinaryExpr(BinaryExpr::new(boxed(left)?, op, boxed(right)?))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let data_type = left.get_type(schema)?;
            let is_checked = overflows(&data_type) && right.get_type(schema)? == data_type;
            match op {
                Operator::Plus if is_checked => Function::Add.call(vec![*left, *right]),
                Operator::Minus if is_checked => Function::Subtract.call(vec![*left, *right]),
                Operator::Multiply if is_checked => Function::Multiply.call(vec![*left, *right]),
                _ => Expr::BinaryExpr(BinaryExpr::new(left, op, right)),
            }
        }
        Expr::Negative(value) if overflows(&value.get_type(schema)?) => {
            Function::Negate.call(vec![*value])
        }
        Expr::Between(between) => Expr::Between(Between {
            expr: boxed(between.expr)?,
            low: boxed(between.low)?,
            high: boxed(between.high)?,
            negated: between.negated,
        }),
        Expr::InList(list) => Expr::InList(InList {
            expr: boxed(list.expr)?,
            list: all(list.list)?,
            negated: list.negated,
        }),
        Expr::InSubquery(test) => Expr::InSubquery(InSubquery {
            expr: boxed(test.expr)?,
            subquery: of_comparable(test.subquery)?,
            negated: test.negated,
        }),
        Expr::SetComparison(test) => Expr::SetComparison(SetComparison {
            expr: boxed(test.expr)?,
            subquery: of_comparable(test.subquery)?,
            ..test
        }),
        Expr::Case(mut case) => {
            if let Some(value) = case.expr {
                case.expr = Some(boxed(value)?);
                for (tested, _) in &mut case.when_then_expr {
                    *tested = boxed(std::mem::take(tested))?;
                }
            }
            Expr::Case(case)
        }
        Expr::ScalarFunction(mut call) => match (call.func.name(), call.args.as_slice()) {
            ("nullif", [value, other]) if has_floats(&value.get_type(schema)?) => {
                let is_equal =
                    comparable(value.clone(), schema)?.eq(comparable(other.clone(), schema)?);
                let null =
                    Expr::Literal(ScalarValue::try_new_null(&value.get_type(schema)?)?, None);
                when(is_equal, null).otherwise(value.clone())?
            }
            (name, _) => {
                if COMPARING.contains(&name) {
                    call.args = all(call.args)?;
                }
                Expr::ScalarFunction(call)
            }
        },
        Expr::AggregateFunction(mut call) => {
            if call.params.distinct || COMPARING.contains(&call.func.name()) {
                call.params.args = all(call.params.args)?;
            }
            call.params.order_by = sorted(call.params.order_by, schema)?;
            Expr::AggregateFunction(call)
        }
        Expr::WindowFunction(mut call) => {
            let params = &mut call.params;
            if params.distinct || COMPARING.contains(&call.fun.name()) {
                params.args = all(std::mem::take(&mut params.args))?;
            }
            params.partition_by = all(std::mem::take(&mut params.partition_by))?;
            params.order_by = sorted(std::mem::take(&mut params.order_by), schema)?;
            Expr::WindowFunction(call)
        }
        other => return Ok(Transformed::no(other)),
    }))
}

/// Whether DataFusion's arithmetic on this type may overflow without an error.
fn overflows(data_type: &DataType) -> bool {
    data_type.is_integer() || matches!(data_type, DataType::Duration(_))
}

/// Wraps a value so that all operators compare it alike.
fn comparable(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    let is_so = match &expr {
        // A float that was an integer is never -0.0 or NaN. Without the function, DataFusion's rules for casts of columns
        // still apply.
        Expr::Cast(cast) => cast.expr.get_type(schema)?.is_integer(),
        _ => Function::Comparable.is_called(&expr),
    };
    if is_so || !has_floats(&expr.get_type(schema)?) {
        return Ok(expr);
    }
    match &expr {
        Expr::Literal(value, metadata) => {
            let value = comparable_array(&value.to_array()?)?;
            let value = ScalarValue::try_from_array(&value, 0)?;
            Ok(Expr::Literal(value, metadata.clone()))
        }
        _ => Ok(Function::Comparable.call(vec![expr])),
    }
}

fn sorted(exprs: Vec<SortExpr>, schema: &DFSchema) -> Result<Vec<SortExpr>> {
    let exprs = exprs.into_iter().map(|sort| {
        let expr = comparable(sort.expr, schema)?;
        Ok(SortExpr { expr, ..sort })
    });
    exprs.collect()
}

/// A projection of all columns under their names, with comparable floats.
fn comparable_columns(input: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    let schema = input.schema();
    if !schema
        .fields()
        .iter()
        .any(|field| has_floats(field.data_type()))
    {
        return Ok(input);
    }
    let columns = schema.columns().into_iter().map(|column| {
        let name = NamePreserver::new_for_projection().save(&Expr::Column(column.clone()));
        Ok(name.restore(comparable(Expr::Column(column), schema)?))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let projection = Projection::try_new(columns, input)?;
    Ok(Arc::new(LogicalPlan::Projection(projection)))
}

/// A subquery of one column, with comparable values.
fn of_comparable(subquery: Subquery) -> Result<Subquery> {
    let input = Arc::clone(&subquery.subquery);
    let columns = input.schema().columns().into_iter();
    let values = columns.map(|column| comparable(Expr::Column(column), input.schema()));
    let values = values.collect::<Result<Vec<_>>>()?;
    let [value] = values.as_slice() else {
        return Ok(subquery);
    };
    if !Function::Comparable.is_called(value) {
        return Ok(subquery);
    }
    // Use a column of a relation: a join is built from the first expression and from all columns that it names.
    let (relation, name) = (TableReference::bare("__values"), "__comparable");
    let named = value.clone().alias_qualified(Some(relation.clone()), name);
    let named = Projection::try_new(vec![named], input)?;
    let column = vec![Expr::Column(Column::new(Some(relation), name))];
    let column = Projection::try_new(column, Arc::new(LogicalPlan::Projection(named)))?;
    Ok(Subquery {
        subquery: Arc::new(LogicalPlan::Projection(column)),
        ..subquery
    })
}

fn distinct(distinct: Distinct) -> Result<LogicalPlan> {
    Ok(LogicalPlan::Distinct(match distinct {
        Distinct::All(input) => Distinct::All(comparable_columns(input)?),
        Distinct::On(mut on) => {
            let schema = Arc::clone(on.input.schema());
            let exprs = on.on_expr.into_iter().map(|expr| comparable(expr, &schema));
            on.on_expr = exprs.collect::<Result<_>>()?;
            let sort = on.sort_expr.map(|exprs| sorted(exprs, &schema));
            Distinct::On(DistinctOn {
                sort_expr: sort.transpose()?,
                ..on
            })
        }
    }))
}

fn join(mut join: Join) -> Result<LogicalPlan> {
    let (left, right) = (
        Arc::clone(join.left.schema()),
        Arc::clone(join.right.schema()),
    );
    for (one, other) in &mut join.on {
        let keys = [std::mem::take(one), std::mem::take(other)];
        let is_column = keys.iter().all(|key| matches!(key, Expr::Column(_)));
        let [key, other_key] = keys;
        *one = comparable(key, &left)?;
        *other = comparable(other_key, &right)?;
        if is_column && Function::Comparable.is_called(one) {
            // USING accepts only columns.
            join.join_constraint = JoinConstraint::On;
        }
    }
    Ok(LogicalPlan::Join(join))
}

/// Rewrites a condition on columns of an outer query.
///
/// If the subquery becomes a join, the inner side of such a condition must be a column, by which aggregates are then
/// grouped.
fn correlated(filter: Filter) -> Result<LogicalPlan> {
    let mut computed: Vec<Expr> = Vec::new();
    let conditions = split_conjunction_owned(filter.predicate).into_iter();
    let conditions = conditions.map(|condition| {
        if !condition.contains_outer() {
            return Ok(condition);
        }
        let condition = condition.transform_down(|expr| {
            let is_own = Function::Comparable.is_called(&expr) && !expr.contains_outer();
            if !is_own {
                return Ok(Transformed::no(expr));
            }
            let column = Column::new_unqualified(expr.schema_name().to_string());
            if !computed.contains(&expr) {
                computed.push(expr);
            }
            Ok(Transformed::new(
                Expr::Column(column),
                true,
                TreeNodeRecursion::Jump,
            ))
        })?;
        Ok(condition.data)
    });
    let conditions = conditions.collect::<Result<Vec<_>>>()?;
    let predicate = conjunction(conditions).unwrap_or_else(|| lit(true));
    if computed.is_empty() {
        return Ok(LogicalPlan::Filter(Filter::try_new(
            predicate,
            filter.input,
        )?));
    }
    let own: Vec<Expr> = filter
        .input
        .schema()
        .columns()
        .into_iter()
        .map(Expr::from)
        .collect();
    let with = Projection::try_new([own.clone(), computed].concat(), filter.input)?;
    let left = Filter::try_new(predicate, Arc::new(LogicalPlan::Projection(with)))?;
    let only = Projection::try_new(own, Arc::new(LogicalPlan::Filter(left)))?;
    Ok(LogicalPlan::Projection(only))
}

fn aggregate(node: Aggregate) -> Result<LogicalPlan> {
    let schema = Arc::clone(node.input.schema());
    let wrapped = |expr: Expr| comparable(expr, &schema);
    let all = |exprs: Vec<Expr>| exprs.into_iter().map(wrapped).collect::<Result<Vec<_>>>();
    let groups = node.group_expr.iter().cloned().map(|expr| match expr {
        Expr::GroupingSet(set) => Ok(Expr::GroupingSet(match set {
            GroupingSet::Rollup(exprs) => GroupingSet::Rollup(all(exprs)?),
            GroupingSet::Cube(exprs) => GroupingSet::Cube(all(exprs)?),
            GroupingSet::GroupingSets(sets) => {
                GroupingSet::GroupingSets(sets.into_iter().map(all).collect::<Result<_>>()?)
            }
        })),
        expr => wrapped(expr),
    });
    let groups = groups.collect::<Result<Vec<_>>>()?;
    let mut inner = Inner::default();
    let results = inner.results(&node.aggr_expr, &schema)?;
    if groups == node.group_expr && !inner.has_changed {
        return Ok(LogicalPlan::Aggregate(node));
    }
    let aggregate = Aggregate::try_new(Arc::clone(&node.input), groups, inner.named())?;
    let input = Arc::new(LogicalPlan::Aggregate(aggregate));
    under_names(input, &node.schema, results)
}

fn window(node: Window) -> Result<LogicalPlan> {
    let mut inner = Inner::default();
    let results = inner.results(&node.window_expr, node.input.schema())?;
    if !inner.has_changed {
        return Ok(LogicalPlan::Window(node));
    }
    let window = Window::try_new(inner.named(), Arc::clone(&node.input))?;
    under_names(Arc::new(LogicalPlan::Window(window)), &node.schema, results)
}

/// A projection of the columns before the results, by position, and of the results, with the names of a schema.
fn under_names(
    input: Arc<LogicalPlan>,
    names: &DFSchema,
    results: Vec<Expr>,
) -> Result<LogicalPlan> {
    let before = names.fields().len().saturating_sub(results.len());
    let before = input
        .schema()
        .columns()
        .into_iter()
        .take(before)
        .map(Expr::Column);
    let columns = before
        .chain(results)
        .zip(names.columns())
        .map(|(expr, name)| {
            let name = NamePreserver::new_for_projection().save(&Expr::Column(name));
            name.restore(expr)
        });
    let columns = columns.collect();
    Ok(LogicalPlan::Projection(Projection::try_new(
        columns, input,
    )?))
}

/// The name of a call. Names of expressions do not show casts, so two of them may be equal.
fn call_name(number: usize) -> String {
    format!("__call_{number}")
}

/// The aggregate calls that the rewritten node makes.
#[derive(Default)]
struct Inner {
    calls: Vec<Expr>,
    has_changed: bool,
}

impl Inner {
    /// Replaces calls by expressions over the results of other calls.
    fn results(&mut self, calls: &[Expr], schema: &DFSchema) -> Result<Vec<Expr>> {
        let results = calls.iter().map(|call| {
            let call = call.clone().unalias_nested().data;
            let exact = exact(&call, schema)?;
            self.has_changed |= exact.is_some();
            let result = exact.unwrap_or(call).transform_down(|expr| {
                if !matches!(expr, Expr::AggregateFunction(_) | Expr::WindowFunction(_)) {
                    return Ok(Transformed::no(expr));
                }
                let known = self.calls.iter().position(|call| *call == expr);
                let number = known.unwrap_or(self.calls.len());
                if known.is_none() {
                    self.calls.push(expr);
                }
                let column = Expr::Column(Column::new_unqualified(call_name(number)));
                Ok(Transformed::new(column, true, TreeNodeRecursion::Jump))
            })?;
            Ok(result.data)
        });
        results.collect()
    }

    /// The calls, each under the name that the results refer to.
    fn named(self) -> Vec<Expr> {
        let calls = self.calls.into_iter().enumerate();
        calls
            .map(|(number, call)| call.alias(call_name(number)))
            .collect()
    }
}

/// Rewrites an aggregate into others that do not overflow and do not depend on the order of the rows; `None` if it has these
/// properties itself.
fn exact(call: &Expr, schema: &DFSchema) -> Result<Option<Expr>> {
    let (function, args) = match call {
        Expr::AggregateFunction(call) => (&call.func, &call.params.args),
        Expr::WindowFunction(call) => match &call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function, &call.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return Ok(None),
        },
        _ => return Ok(None),
    };
    let [arg] = args.as_slice() else {
        return Ok(None);
    };
    let data_type = arg.get_type(schema)?;
    Ok(match (function.name(), &data_type) {
        ("min" | "max", DataType::Float16 | DataType::Float32 | DataType::Float64) => {
            let rank = Function::Rank.call(vec![cast(arg.clone(), DataType::Float64)]);
            let rank = with(call, function, rank);
            Some(cast(Function::Unrank.call(vec![rank]), data_type))
        }
        ("sum", DataType::Int64 | DataType::UInt64) => {
            let sum = with(call, function, Function::Exact.call(vec![arg.clone()]));
            Some(cast(sum, data_type))
        }
        ("avg", DataType::Float64) => match arg {
            Expr::Cast(number) if number.expr.get_type(schema)?.is_integer() => {
                let sum = with(
                    call,
                    &sum_udaf(),
                    Function::Exact.call(vec![(*number.expr).clone()]),
                );
                let count = with(call, &count_udaf(), (*number.expr).clone());
                Some(cast(sum, DataType::Float64) / cast(count, DataType::Float64))
            }
            _ => None,
        },
        _ => None,
    })
}

/// A call of another aggregate on another argument, over the same rows.
fn with(call: &Expr, function: &Arc<AggregateUDF>, arg: Expr) -> Expr {
    match call {
        Expr::WindowFunction(call) => Expr::from(WindowFunction {
            fun: WindowFunctionDefinition::AggregateUDF(Arc::clone(function)),
            params: WindowFunctionParams {
                args: vec![arg],
                ..call.params.clone()
            },
        }),
        Expr::AggregateFunction(call) => Expr::AggregateFunction(AggregateFunction {
            func: Arc::clone(function),
            params: AggregateFunctionParams {
                args: vec![arg],
                ..call.params.clone()
            },
        }),
        other => other.clone(),
    }
}
