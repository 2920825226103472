"""Vectors of sixteen numbers: the type in which the kernels of the public form are written.

Numba relies on LLVM to vectorise loops, and with several arrays and few actions per node LLVM often fails to. Here a
`Lanes` value *is* an LLVM vector of sixteen floats: `load` reads one from an array, `+ - *` and the functions below
work on all sixteen, `store` writes it back. On a processor with AVX-512 it is one register; elsewhere LLVM splits it
into two or four, so the same code runs everywhere. An array of 64-bit floats gives sixteen of those, in twice the
registers: sums over deals use these, and terminals work with either.

Regrets and averages may be stored in fewer bits: `load` and `store_rounded` convert them (`lane_formats`), so nothing
else sees the format.

A product and a sum may be fused, and division is an estimate refined once. Otherwise arithmetic happens in the order
written, which is chosen so that sums need not wait for each other. Infinities and NaN must not occur.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import models, overload, register_model

from regretless.compiling import intrinsic
from regretless.compiling.numba_internals import cgutils
from regretless.engines.layout import LANES
from regretless.engines.numba.public.kernels.lane_formats import (
    FAST,
    INTS,
    LANE_FORMATS,
    VECTOR,
    WIDE_VECTOR,
    hashed,
)

__all__ = [
    "Lanes",
    "add_product",
    "divide",
    "gather",
    "item",
    "load",
    "mask_dead",
    "maximum",
    "splat",
    "store",
    "store_columns",
    "store_rounded",
    "transpose",
    "where_positive",
    "widen",
    "zeros",
]

Lanes = Any  # as a type checker sees it

_INT = INTS.element
_ROUGH = ("fast",)


class _LanesType(types.Type):
    def __init__(self, vector: Any) -> None:
        super().__init__(name=f"Lanes({vector})")
        self.vector = vector


_lanes, _wide_lanes = _LanesType(VECTOR), _LanesType(WIDE_VECTOR)


@register_model(_LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)  # type: ignore[no-untyped-call]


def _lanes_of(number: Any) -> _LanesType:
    """The vector type for numbers of a type."""
    return _wide_lanes if number == types.float64 else _lanes


def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Pointer to array[index] as a pointer to sixteen numbers."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), LANE_FORMATS[kind.dtype].vector.as_pointer())


@intrinsic
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index : index + 16]"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        stored = builder.load(_address(context, builder, kind, *arguments), align=kind.dtype.bitwidth // 8)
        return LANE_FORMATS[kind.dtype].load(builder, stored)

    return _lanes_of(array.dtype)(array, types.intp), generate


@intrinsic
def gather(typing_context: Any, array: Any, at: Any, offsets: Any, first: Any) -> Any:
    """array[at + offsets[first + j]] for each lane j, by scalar loads, which are faster than gather instructions"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, offsets, first = arguments
        kinds = signature.args
        begin = builder.gep(context.make_array(kinds[0])(context, builder, array).data, [at])
        where = builder.gep(context.make_array(kinds[2])(context, builder, offsets).data, [first])
        vector = ir.Constant(VECTOR, ir.Undefined)
        for lane in range(LANES):
            offset = builder.sext(builder.load(builder.gep(where, [ir.Constant(at.type, lane)])), at.type)
            vector = builder.insert_element(vector, builder.load(builder.gep(begin, [offset])), ir.Constant(_INT, lane))
        return vector

    return _lanes(array, types.intp, offsets, types.intp), generate


@intrinsic
def widen(typing_context: Any, value: Any) -> Any:
    """The same numbers in 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fpext(arguments[0], WIDE_VECTOR)

    return _wide_lanes(_lanes), generate


@intrinsic
def zeros(typing_context: Any, array: Any) -> Any:
    """Sixteen zeros of the array's type."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ir.Constant(signature.return_type.vector, [0.0] * LANES)

    return _lanes_of(array.dtype)(array), generate


def _mask(context: Any, builder: Any, kind: Any, bits: Any, index: Any) -> Any:
    """The sixteen bits of bits[index] as booleans."""
    data = context.make_array(kind)(context, builder, bits).data
    return builder.bitcast(builder.load(builder.gep(data, [index])), ir.VectorType(ir.IntType(1), LANES))


@intrinsic
def mask_dead(typing_context: Any, value: Any, bits: Any, index: Any) -> Any:
    """value where the bit of bits[index] is set, else 0; the lowest bit belongs to the first lane"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value, bits, index = arguments
        mask = _mask(context, builder, signature.args[1], bits, index)
        return builder.select(mask, value, ir.Constant(VECTOR, [0.0] * LANES))

    return _lanes(_lanes, bits, types.intp), generate


@intrinsic
def item(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index] of an array of small integers; unlike numba's own, never counts from the end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        return builder.sext(builder.load(builder.gep(data, [arguments[1]])), ir.IntType(64))

    return types.int64(array, types.intp), generate


@intrinsic
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index : index + 16] = value"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes_of(array.dtype)), generate


@intrinsic
def store_rounded(typing_context: Any, array: Any, index: Any, value: Any, seed: Any, roundings: Any, at: Any) -> Any:
    """array[index : index + 16] = value, in the array's format.

    Rounding to 16 bits is stochastic, so that errors cancel: otherwise a sum would stop growing once its increments
    are less than half a step. It depends only on `seed` and `roundings[at : at + 16]`, so equal numbers for which
    both agree stay equal.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index, value, seed, roundings, at = arguments
        kind = signature.args[0]
        stored = LANE_FORMATS[kind.dtype]
        if stored.store is not None:
            begin = context.make_array(signature.args[4])(context, builder, roundings).data
            own = builder.load(builder.bitcast(builder.gep(begin, [at]), INTS.as_pointer()), align=4)
            chance = builder.add(_splat(builder, hashed(builder, seed), INTS), own)
            value = stored.store(builder, value, chance)
        builder.store(value, _address(context, builder, kind, array, index), align=kind.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes, types.int64, roundings, types.intp), generate


def _splat(builder: Any, number: Any, kind: Any) -> Any:
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(_INT, 0))
    return builder.shuffle_vector(single, ir.Constant(kind, ir.Undefined), ir.Constant(INTS, [0] * LANES))


@intrinsic
def splat(typing_context: Any, number: Any) -> Any:
    """The same number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _splat(builder, arguments[0], signature.return_type.vector)

    return _lanes_of(number)(number), generate


def _binary(name: str, flags: tuple[str, ...] = FAST) -> Any:
    """An intrinsic for one instruction on two vectors."""

    @intrinsic
    def operation(typing_context: Any, left: Any, right: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, name)(*arguments, flags=flags)

        return left(left, left), generate

    return operation


_add, _subtract, _multiply, divide = _binary("fadd"), _binary("fsub"), _binary("fmul"), _binary("fdiv", _ROUGH)


def _overload(symbol: Any, implementation: Any) -> None:
    def chosen(left: Any, right: Any) -> Any:
        if isinstance(left, _LanesType) and left == right:
            return lambda left, right: implementation(left, right)
        return None

    overload(symbol, strict=False)(chosen)


_overload(operator.add, _add)
_overload(operator.sub, _subtract)
_overload(operator.mul, _multiply)


@intrinsic
def add_product(typing_context: Any, total: Any, left: Any, right: Any) -> Any:
    """total + left · right, fused"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        total, left, right = arguments
        return builder.fadd(total, builder.fmul(left, right, flags=FAST), flags=FAST)

    return total(total, total, total), generate


@intrinsic
def maximum(typing_context: Any, left: Any, right: Any) -> Any:
    """The lane-wise maximum."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right = arguments
        return builder.select(builder.fcmp_ordered(">", left, right, flags=FAST), left, right)

    return _lanes(_lanes, _lanes), generate


@intrinsic
def where_positive(typing_context: Any, condition: Any, positive: Any, other: Any) -> Any:
    """positive where condition > 0, else other"""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        condition, positive, other = arguments
        zero = ir.Constant(VECTOR, [0.0] * LANES)
        return builder.select(builder.fcmp_ordered(">", condition, zero), positive, other)

    return _lanes(_lanes, _lanes, _lanes), generate


def _interleave(builder: Any, rows: list[Any], span: int) -> list[Any]:
    """One of the four steps of a transposition: swap the off-diagonal blocks of pairs of rows `span` apart."""
    result = list(rows)
    low = [lane if lane // span % 2 == 0 else lane - span + LANES for lane in range(LANES)]
    high = [lane + span if lane // span % 2 == 0 else lane + LANES for lane in range(LANES)]
    mask = ir.VectorType(_INT, LANES)
    for row in range(LANES):
        if row // span % 2 == 0:
            one, two = rows[row], rows[row + span]
            result[row] = builder.shuffle_vector(one, two, ir.Constant(mask, low))
            result[row + span] = builder.shuffle_vector(one, two, ir.Constant(mask, high))
    return result


@intrinsic
def transpose(typing_context: Any, source: Any, starts: Any, first: Any, offset: Any, target: Any, at: Any) -> Any:
    """target[at + 16·i + j] = source[starts[first + j] + offset + i]: sixteen pieces of rows become sixteen columns.

    The target may have 64-bit numbers.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, starts, first, offset, target, at = arguments
        kinds = signature.args
        begin = context.make_array(kinds[1])(context, builder, starts).data
        rows = []
        for lane in range(LANES):
            where = builder.gep(begin, [builder.add(first, ir.Constant(first.type, lane))])
            start = builder.sext(builder.load(where), first.type)
            rows.append(builder.load(_address(context, builder, kinds[0], source, builder.add(start, offset)), align=4))
        for span in (1, 2, 4, 8):
            rows = _interleave(builder, rows, span)
        for lane in range(LANES):
            index = builder.add(at, ir.Constant(at.type, LANES * lane))
            row = rows[lane] if kinds[4].dtype == types.float32 else builder.fpext(rows[lane], WIDE_VECTOR)
            builder.store(row, _address(context, builder, kinds[4], target, index), align=4)
        return context.get_dummy_value()

    return types.void(source, starts, types.intp, types.intp, target, types.intp), generate


@intrinsic
def store_columns(
    typing_context: Any, target: Any, starts: Any, first: Any, offset: Any, columns: Any, alive: Any, bits: Any
) -> Any:
    """`target[starts[first + j] + offset + i] = columns[i][j]`: sixteen columns become pieces of sixteen rows.

    It is 0 where bit i of alive[bits] is not set. Columns of 64-bit numbers are rounded.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, starts, first, offset, columns, alive, bits = arguments
        kinds = signature.args
        begin = context.make_array(kinds[1])(context, builder, starts).data
        rows = cgutils.unpack_tuple(builder, columns)
        if kinds[4][0] == _wide_lanes:
            rows = [builder.fptrunc(row, VECTOR) for row in rows]
        for span in (1, 2, 4, 8):
            rows = _interleave(builder, rows, span)
        mask = _mask(context, builder, kinds[5], alive, bits)
        for lane in range(LANES):
            where = builder.gep(begin, [builder.add(first, ir.Constant(first.type, lane))])
            start = builder.sext(builder.load(where), first.type)
            row = builder.select(mask, rows[lane], ir.Constant(VECTOR, [0.0] * LANES))
            builder.store(row, _address(context, builder, kinds[0], target, builder.add(start, offset)), align=4)
        return context.get_dummy_value()

    return types.void(target, starts, types.intp, types.intp, columns, alive, types.intp), generate
