"""Evaluates numexpr expressions over columns and arrays, block by block."""

from __future__ import annotations

import ast
import contextlib
import operator
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .params import defaults

_BLOCK = 1 << 21

_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Invert: operator.invert,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: np.logical_not,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in "where sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh log log10 log1p "
    "exp expm1 sqrt abs conj real imag floor ceil isnan isfinite isinf".split()
} | {
    "complex": lambda real, imag: real + 1j * imag,
    "contains": lambda text, part: np.char.find(text, part) >= 0,
    "sum": lambda values: np.sum(values, axis=0),
    "prod": lambda values: np.prod(values, axis=0),
}


def caller(depth: int) -> dict[str, Any]:
    """The variables that a caller sees; depth 1 is the function that calls this."""
    frame = sys._getframe(depth)
    return {**frame.f_globals, **frame.f_locals}


def names_in(expression: str) -> list[str]:
    """The variables in an expression, each once, without functions.

    >>> names_in("a + sin(b) > a")
    ['a', 'b']
    """
    tree = ast.parse(expression, mode="eval")
    called = {id(name) for node in ast.walk(tree) if isinstance(node, ast.Call) for name in ast.walk(node.func)}
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called)
    return list(dict.fromkeys(names))


class _Evaluator(ast.NodeVisitor):
    """Computes an expression of operators, comparisons and known functions only."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names = names

    def generic_visit(self, node: ast.AST) -> Any:
        raise NotImplementedError(f"{type(node).__name__} cannot be used in an expression")

    def visit_Expression(self, node: ast.Expression) -> Any:
        return self.visit(node.body)

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        return self.names[node.id]

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        return self._apply(node.op, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        return self._apply(node.op, self.visit(node.operand))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        result, *others = map(self.visit, node.values)
        for other in others:
            result = join(result, other)
        return result

    def visit_Compare(self, node: ast.Compare) -> Any:
        left, results = self.visit(node.left), []
        for op, comparator in zip(node.ops, node.comparators):
            right = self.visit(comparator)
            results.append(self._apply(op, left, right))
            left = right
        result, *others = results
        for other in others:
            result = np.logical_and(result, other)
        return result

    def visit_Call(self, node: ast.Call) -> Any:
        function = _FUNCTIONS.get(ast.unparse(node.func).removeprefix("np.").removeprefix("math."))
        if function is None or node.keywords:
            raise NotImplementedError(f"no function {ast.unparse(node.func)!r} (functions: {', '.join(_FUNCTIONS)})")
        return function(*map(self.visit, node.args))

    def _apply(self, op: ast.AST, *operands: Any) -> Any:
        function = _OPERATORS.get(type(op))
        if function is None:
            raise NotImplementedError(f"{type(op).__name__} cannot be used in an expression")
        return function(*operands)


def compute(expression: str, names: Mapping[str, Any], vm: str) -> Any:
    """The value of an expression over NumPy arrays."""
    if vm == "numexpr":
        import numexpr

        try:
            return numexpr.evaluate(expression, local_dict=dict(names), global_dict={})
        except (ValueError, NotImplementedError):
            warnings.warn("numexpr cannot handle this expression: it is computed by NumPy", stacklevel=2)
    with np.errstate(all="ignore"):
        return np.asarray(_Evaluator(names).visit(ast.parse(expression.strip(), mode="eval")))


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "dtype") and bool(getattr(value, "shape", ()))


def _variables(expression: str, names: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name in names_in(expression):
        if name not in names:
            raise NameError(f"variable name ``{name}`` not found")
        found[name] = names[name]
        if isinstance(names[name], (list, tuple, range)):
            raise ValueError(f"{name!r} is a {type(names[name]).__name__}: make it an array")
    return found


def evaluate(
    expression: str,
    names: Mapping[str, Any],
    vm: str | None = None,
    out_flavor: str | None = None,
    blen: int | None = None,
    **kwargs: Any,
) -> Any:
    """The value of an expression over these variables; see `eval`."""
    vm, flavor = vm or defaults.vm, out_flavor or defaults.out_flavor
    if vm not in ("numexpr", "python", "dask"):
        raise ValueError(f"`vm` must be 'numexpr' or 'python', not {vm!r}")
    if flavor not in ("bcolz", "carray", "numpy"):
        raise ValueError(f"`out_flavor` must be 'bcolz', 'carray' or 'numpy', not {flavor!r}")
    vm = "python" if vm == "dask" else vm
    found = _variables(expression, names)
    columns = {name: value for name, value in found.items() if _is_column(value)}
    if vm == "numexpr" and any(value.dtype.str[1:] == "u8" for value in columns.values()):
        raise NotImplementedError("64-bit unsigned integers are not supported by numexpr: use the vm 'python'")
    if not columns:
        value = compute(expression, found, vm)
        return value[()] if np.ndim(value) == 0 else value
    rows = {len(value) for value in columns.values()}
    if len(rows) > 1:
        raise ValueError(f"the arrays of the expression have different lengths: {sorted(rows)}")
    total = rows.pop()
    width = sum(value.dtype.itemsize for value in columns.values())
    return _in_blocks(expression, found, columns, vm, flavor, total, blen or max(_BLOCK // width, 1), kwargs)


def _in_blocks(
    expression: str,
    found: dict[str, Any],
    columns: dict[str, Any],
    vm: str,
    flavor: str,
    total: int,
    blen: int,
    kwargs: dict[str, Any],
) -> Any:
    from .carray import carray
    from .storage import all_or_nothing

    result: Any = None
    with contextlib.ExitStack() as whole:
        for at in range(0, max(total, 1), blen):
            block = {name: np.asarray(column[at : at + blen]) for name, column in columns.items()}
            value = compute(expression, {**found, **block}, vm)
            if value.ndim < max(column.ndim for column in block.values()):
                result = value if result is None else result + value
            elif flavor == "numpy":
                result = [value] if result is None else [*result, value]
            elif result is None:
                expected = kwargs.pop("expectedlen", total)
                result = carray(value, expectedlen=expected, _flush=False, **kwargs)
                # The remaining blocks are appended to it; all are flushed, or none.
                whole.enter_context(all_or_nothing(result._storage, result.flush))
            else:
                result.append(value)
    if isinstance(result, list):
        return np.concatenate(result)
    return result[()] if isinstance(result, np.ndarray) and not result.ndim else result


def eval(
    expression: str,
    vm: str | None = None,
    out_flavor: str | None = None,
    user_dict: Mapping[str, Any] | None = None,
    blen: int | None = None,
    **kwargs: Any,
) -> Any:
    """The value of an expression over carrays, arrays and numbers, computed block by block.

    Variables come from ``user_dict`` and from the caller. An expression can use only operators, comparisons and numexpr's
    functions: no attributes, subscripts or Python names.

    >>> from bloscpack import bcolz
    >>> a = bcolz.carray([1, 2, 3])
    >>> bcolz.eval("2 * a + 1")[:]
    array([3, 5, 7])
    """
    return evaluate(expression, {**caller(2), **(user_dict or {})}, vm, out_flavor, blen, **kwargs)
