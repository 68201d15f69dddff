//! [`cannot_fail`]: whether a condition has a result for every row.

use super::Function;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::ScalarFunctionExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, NegativeExpr};
use std::sync::Arc;

/// Whether a condition has a result for every row. False for functions and casts that it does not recognize.
pub(crate) fn cannot_fail(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let mut cannot = true;
    let walked = expr.apply(|part| {
        cannot &= is_total(part, schema);
        Ok(if cannot {
            TreeNodeRecursion::Continue
        } else {
            TreeNodeRecursion::Stop
        })
    });
    cannot && walked.is_ok()
}

/// Whether this part of a condition has a value for all values of its operands.
fn is_total(part: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    if let Some(binary) = part.downcast_ref::<BinaryExpr>() {
        let is_float = || part.data_type(schema).is_ok_and(|of| of.is_floating());
        return !binary.op().is_numerical_operators() || is_float();
    }
    if let Some(cast) = part.downcast_ref::<CastExpr>() {
        let from = cast.expr().data_type(schema);
        return from.is_ok_and(|from| fits(&from, cast.cast_type()));
    }
    if part.downcast_ref::<ScalarFunctionExpr>().is_some() {
        let functions = [Function::Comparable, Function::Exact];
        return functions
            .iter()
            .any(|function| function.argument(part).is_some());
    }
    let is_negative = part.downcast_ref::<NegativeExpr>().is_some();
    !is_negative || part.data_type(schema).is_ok_and(|of| of.is_floating())
}

/// Whether every value of `from` is a value of `to`.
fn fits(from: &DataType, to: &DataType) -> bool {
    let width = |of: &DataType| of.primitive_width().unwrap_or(0);
    match to {
        _ if from == to || from.is_null() => true,
        DataType::Utf8 | DataType::Utf8View => from.is_string(),
        _ if to.is_floating() => from.is_numeric(),
        DataType::Decimal128(20.., 0) => from.is_integer(),
        _ if to.is_signed_integer() => from.is_integer() && width(from) < width(to),
        _ if to.is_unsigned_integer() => from.is_unsigned_integer() && width(from) <= width(to),
        _ => false,
    }
}
