//! [`statements`]: parses SQL.

use datafusion::common::Result;
use datafusion::sql::parser::{CopyToSource, DFParser, Statement};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, UnaryOperator, VisitMut, visit_expressions_mut,
};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Parses the statements of a text.
///
/// DataFusion's parser reads `a IS DISTINCT FROM b AND c` as `a IS DISTINCT FROM (b AND c)`. This function reads it as
/// `(a IS DISTINCT FROM b) AND c`, like the standard and other engines.
///
/// ```
/// let statements = bloscpack_datafusion::statements("SELECT 1; SELECT 2")?;
/// assert_eq!(statements.len(), 2);
/// # Ok::<(), datafusion::error::DataFusionError>(())
/// ```
///
/// # Errors
/// Returns an error for invalid SQL.
pub fn statements(text: &str) -> Result<VecDeque<Statement>> {
    let mut statements = DFParser::parse_sql(text)?;
    statements.iter_mut().for_each(regroup_statement);
    Ok(statements)
}

fn regroup_statement(statement: &mut Statement) {
    match statement {
        Statement::Statement(statement) => regroup_all(&mut **statement),
        Statement::Explain(explain) => regroup_statement(&mut explain.statement),
        Statement::CopyTo(copy) => {
            if let CopyToSource::Query(query) = &mut copy.source {
                regroup_all(&mut **query);
            }
        }
        Statement::CreateExternalTable(_) | Statement::Reset(_) => {}
    }
}

fn regroup_all(part: &mut impl VisitMut) {
    let _: ControlFlow<()> = visit_expressions_mut(part, |expr| {
        if reaches_too_far(expr) {
            *expr = grouped(parts(std::mem::replace(expr, Expr::Identifier("".into()))));
        }
        ControlFlow::Continue(())
    });
}

/// Whether the right side of an IS DISTINCT FROM at the end of this expression includes an AND or an OR. A parenthesized
/// expression is of another kind, so it is not affected.
fn reaches_too_far(expr: &Expr) -> bool {
    match expr {
        Expr::IsDistinctFrom(_, right) | Expr::IsNotDistinctFrom(_, right) => {
            is_and_or(right) || reaches_too_far(right)
        }
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => is_and_or(expr) || reaches_too_far(expr),
        Expr::BinaryOp {
            op: BinaryOperator::And,
            right,
            ..
        } => is_and_or(right),
        _ => false,
    }
}

fn is_and_or(expr: &Expr) -> bool {
    use BinaryOperator::{And, Or};
    matches!(expr, Expr::BinaryOp { op: And | Or, .. })
}

/// The operands of AND and OR in the order of the text, each but the first with the operator before it.
fn parts(expr: Expr) -> Vec<(Option<BinaryOperator>, Expr)> {
    let with_first = |expr: Expr, make: &dyn Fn(Box<Expr>) -> Expr| {
        let mut parts = parts(expr).into_iter();
        let first = parts.next().map(|(op, first)| (op, make(Box::new(first))));
        first.into_iter().chain(parts).collect()
    };
    match expr {
        Expr::BinaryOp {
            left,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right,
        } => {
            let mut all = parts(*left);
            let mut op = Some(op);
            all.extend(
                parts(*right)
                    .into_iter()
                    .map(|(own, part)| (op.take().or(own), part)),
            );
            all
        }
        Expr::IsDistinctFrom(left, right) => {
            with_first(*right, &|right| Expr::IsDistinctFrom(left.clone(), right))
        }
        Expr::IsNotDistinctFrom(left, right) => with_first(*right, &|right| {
            Expr::IsNotDistinctFrom(left.clone(), right)
        }),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => with_first(*expr, &|expr| Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        }),
        other => vec![(None, other)],
    }
}

/// Combines the operands into one expression; AND binds before OR.
fn grouped(parts: Vec<(Option<BinaryOperator>, Expr)>) -> Expr {
    let joined = |left: Option<Expr>, op, right| match left {
        None => right,
        Some(left) => Expr::BinaryOp {
            left: Box::new(left),
            op,
            right: Box::new(right),
        },
    };
    let (mut or, mut and) = (None, None);
    for (op, part) in parts {
        if op == Some(BinaryOperator::Or)
            && let Some(complete) = and.take()
        {
            or = Some(joined(or, BinaryOperator::Or, complete));
        }
        and = Some(joined(and, BinaryOperator::And, part));
    }
    let last = and.unwrap_or_else(|| Expr::Identifier("".into()));
    joined(or, BinaryOperator::Or, last)
}

#[cfg(test)]
mod tests {
    use super::statements;
    use datafusion::prelude::SessionContext;

    async fn meaning(condition: &str) -> String {
        let query = format!("SELECT {condition} FROM (SELECT true a, true b, true c, true d) AS t");
        let statement = statements(&query).unwrap().pop_front().unwrap();
        let plan = SessionContext::new()
            .state()
            .statement_to_plan(statement)
            .await;
        plan.unwrap().display_indent().to_string()
    }

    #[tokio::test]
    async fn is_distinct_from_binds_before_and() {
        for (text, grouped) in [
            ("a IS DISTINCT FROM b AND c", "(a IS DISTINCT FROM b) AND c"),
            (
                "a IS NOT DISTINCT FROM b AND c OR d",
                "((a IS NOT DISTINCT FROM b) AND c) OR d",
            ),
            (
                "d OR a IS DISTINCT FROM b AND c",
                "d OR ((a IS DISTINCT FROM b) AND c)",
            ),
            (
                "d AND a IS DISTINCT FROM b OR c",
                "(d AND (a IS DISTINCT FROM b)) OR c",
            ),
            (
                "NOT a IS DISTINCT FROM b AND c",
                "(NOT (a IS DISTINCT FROM b)) AND c",
            ),
            (
                "a IS DISTINCT FROM b AND c IS DISTINCT FROM d OR a",
                "((a IS DISTINCT FROM b) AND (c IS DISTINCT FROM d)) OR a",
            ),
        ] {
            assert_eq!(meaning(text).await, meaning(grouped).await, "{text}");
        }
        let inner = "a IS DISTINCT FROM (b AND c)";
        assert_ne!(
            meaning(inner).await,
            meaning("a IS DISTINCT FROM b AND c").await
        );
    }
}
