//! [`Function`]: the functions that the rule of this module writes into plans.

use datafusion::arrow::array::{
    Array as _, ArrayRef, ArrowPrimitiveType, AsArray as _, Decimal128Array, Float64Array,
    Int64Array, PrimitiveArray, make_array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::compute::kernels::numeric::{add, mul, neg, sub};
use datafusion::arrow::datatypes::{
    DataType, Field, FieldRef, Float16Type, Float32Type, Float64Type, Int64Type, SchemaRef,
    UInt64Type,
};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_expr_common::datum::apply;
use std::sync::{Arc, LazyLock};

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

/// A function in a plan. The executors of a cluster look it up by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// The same value, but 0.0 in place of -0.0, and the same NaN for every NaN.
    ///
    /// For such values the order of their bits, the total order of IEEE 754, the hash and SQL's equality all agree, so any
    /// operator gives the same result.
    Comparable,
    /// An integer for each double, in the same order; NaN is the greatest.
    Rank,
    /// The double of a rank, the inverse of `Rank`.
    Unrank,
    /// The sum of integers; an error on overflow.
    Add,
    /// The difference of integers; an error on overflow.
    Subtract,
    /// The product of integers; an error on overflow.
    Multiply,
    /// The negated integer; an error on overflow.
    Negate,
    /// A 64-bit integer as a decimal, whose sums do not overflow.
    Exact,
}

/// A decimal type for signed and unsigned 64-bit integers.
pub(crate) const EXACT: DataType = DataType::Decimal128(20, 0);

/// One function object each, because plans compare the objects.
static FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> = LazyLock::new(|| {
    let udf = |function: &Function| Arc::new(ScalarUDF::from(Named::new(*function)));
    Function::ALL.iter().map(udf).collect()
});

impl Function {
    const ALL: [Self; 8] = [
        Self::Comparable,
        Self::Rank,
        Self::Unrank,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Negate,
        Self::Exact,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Comparable => "comparable",
            Self::Rank => "float_rank",
            Self::Unrank => "float_of_rank",
            Self::Add => "checked_add",
            Self::Subtract => "checked_subtract",
            Self::Multiply => "checked_multiply",
            Self::Negate => "checked_negate",
            Self::Exact => "exact_integer",
        }
    }

    /// A call of the function with these arguments.
    pub(crate) fn call(self, args: Vec<Expr>) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(self.udf(), args))
    }

    /// Whether `expr` is a call of the function.
    pub(crate) fn is_called(self, expr: &Expr) -> bool {
        matches!(expr, Expr::ScalarFunction(call) if call.func.name() == self.name())
    }

    /// The argument, if `expr` is a call of the function in a physical plan.
    pub(crate) fn argument(self, expr: &Arc<dyn PhysicalExpr>) -> Option<&Arc<dyn PhysicalExpr>> {
        let call = expr.downcast_ref::<ScalarFunctionExpr>()?;
        (call.fun().name() == self.name()).then(|| call.args().first())?
    }

    /// A call of the function on an expression of a physical plan.
    pub(crate) fn around(
        self,
        expr: Arc<dyn PhysicalExpr>,
        schema: &SchemaRef,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let options = Arc::new(ConfigOptions::default());
        let call = ScalarFunctionExpr::try_new(self.udf(), vec![expr], schema, options)?;
        Ok(Arc::new(call))
    }

    fn udf(self) -> Arc<ScalarUDF> {
        let known = FUNCTIONS.iter().find(|udf| udf.name() == self.name());
        known.map_or_else(|| Arc::new(ScalarUDF::from(Named::new(self))), Arc::clone)
    }

    fn invoke(self, args: &[ColumnarValue]) -> Result<ColumnarValue> {
        match (self, args) {
            (Self::Comparable, [value]) => mapped(value, comparable),
            (Self::Rank, [value]) => mapped(value, rank),
            (Self::Unrank, [value]) => mapped(value, unrank),
            (Self::Exact, [value]) => mapped(value, exact),
            (Self::Negate, [value]) => mapped(value, |array| Ok(neg(array)?)),
            (Self::Add, [left, right]) => apply(left, right, add),
            (Self::Subtract, [left, right]) => apply(left, right, sub),
            (Self::Multiply, [left, right]) => apply(left, right, mul),
            _ => plan_err!("{} with {} arguments", self.name(), args.len()),
        }
    }
}

/// All functions; sessions that decode plans need them.
pub(crate) fn functions() -> &'static [Arc<ScalarUDF>] {
    &FUNCTIONS
}

/// A function as an implementation for DataFusion.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Named {
    function: Function,
    signature: Signature,
}

impl Named {
    fn new(function: Function) -> Self {
        let count = match function {
            Function::Add | Function::Subtract | Function::Multiply => 2,
            _ => 1,
        };
        Self {
            function,
            signature: Signature::any(count, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for Named {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[DataType]) -> Result<DataType> {
        match (self.function, args.first()) {
            (Function::Rank, _) => Ok(DataType::Int64),
            (Function::Unrank, _) => Ok(DataType::Float64),
            (Function::Exact, _) => Ok(EXACT),
            (_, Some(first)) => Ok(first.clone()),
            (_, None) => plan_err!("{} without arguments", self.name()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let types = args.arg_fields.iter().map(|field| field.data_type());
        let types: Vec<DataType> = types.cloned().collect();
        let is_nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        let data_type = self.return_type(&types)?;
        Ok(Arc::new(Field::new(self.name(), data_type, is_nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.function.invoke(&args.args)
    }
}

/// Applies a function of arrays to an array or a scalar.
fn mapped(
    value: &ColumnarValue,
    function: impl Fn(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    Ok(match value {
        ColumnarValue::Array(array) => ColumnarValue::Array(function(array)?),
        ColumnarValue::Scalar(scalar) => {
            let array = function(&scalar.to_array()?)?;
            ColumnarValue::Scalar(ScalarValue::try_from_array(&array, 0)?)
        }
    })
}

/// Whether values of a type are floats or contain floats.
pub(crate) fn has_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_floats(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_floats(field.data_type())),
        DataType::Dictionary(_, values) => has_floats(values),
        _ => false,
    }
}

/// The values with a single zero and a single NaN.
pub(crate) fn comparable(array: &ArrayRef) -> Result<ArrayRef> {
    let data_type = array.data_type();
    Ok(match data_type {
        DataType::Float16 => floats::<Float16Type>(array, |value| {
            if value.is_nan() {
                F16::from_bits(0x7e00)
            } else if value.to_bits() << 1 == 0 {
                F16::from_bits(0)
            } else {
                value
            }
        }),
        DataType::Float32 => floats::<Float32Type>(array, |value| {
            if value.is_nan() {
                f32::from_bits(0x7fc0_0000)
            } else if value == 0.0 {
                0.0
            } else {
                value
            }
        }),
        DataType::Float64 => floats::<Float64Type>(array, one_double),
        _ if has_floats(data_type) => {
            let data = array.to_data();
            let children = data.child_data().iter().map(|child| {
                let child = comparable(&make_array(child.clone()))?;
                Ok(child.to_data())
            });
            let children = children.collect::<Result<Vec<_>>>()?;
            make_array(data.into_builder().child_data(children).build()?)
        }
        _ => Arc::clone(array),
    })
}

fn one_double(value: f64) -> f64 {
    if value.is_nan() {
        f64::from_bits(0x7ff8_0000_0000_0000)
    } else if value == 0.0 {
        0.0
    } else {
        value
    }
}

/// Applies a function to floats. Returns the same array if no value changes.
fn floats<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    function: impl Fn(T::Native) -> T::Native,
) -> ArrayRef {
    use datafusion::arrow::array::ArrowNativeTypeOp as _;
    let array: &PrimitiveArray<T> = array.as_primitive();
    // `is_eq` uses the total order, in which values are equal only if their bits are.
    if array
        .values()
        .iter()
        .all(|value| function(*value).is_eq(*value))
    {
        return Arc::new(array.clone());
    }
    Arc::new(array.unary::<_, T>(function))
}

/// `cast` would compare each value with the greatest decimal, which takes longer than the sum.
fn exact(array: &ArrayRef) -> Result<ArrayRef> {
    let decimals: Decimal128Array = match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().unary(i128::from),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().unary(i128::from),
        _ => return Ok(cast(array, &EXACT)?),
    };
    Ok(Arc::new(decimals.with_data_type(EXACT)))
}

fn rank(array: &ArrayRef) -> Result<ArrayRef> {
    let doubles = array.as_primitive_opt::<Float64Type>();
    let Some(doubles) = doubles else {
        return plan_err!("the rank of {}", array.data_type());
    };
    let ranks: Int64Array =
        doubles.unary(|value| flipped(one_double(value).to_bits().cast_signed()));
    Ok(Arc::new(ranks))
}

fn unrank(array: &ArrayRef) -> Result<ArrayRef> {
    let ranks = array.as_primitive_opt::<Int64Type>();
    let Some(ranks) = ranks else {
        return plan_err!("a rank that is {}", array.data_type());
    };
    let doubles: Float64Array = ranks.unary(|rank| f64::from_bits(flipped(rank).cast_unsigned()));
    Ok(Arc::new(doubles))
}

/// Maps the bits of a double to an integer with the same order, and back.
fn flipped(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}
