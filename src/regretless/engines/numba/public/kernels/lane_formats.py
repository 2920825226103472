"""Storage of vectors of sixteen 32-bit floats in fewer bits.

    int16     the bits of half-precision floats: eleven significant bits, at most 65504
    uint16    integers from 0 to 65535

Rounding is stochastic (`lanes.store_rounded`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from regretless.engines.layout import LANES

__all__ = ["FAST", "INTS", "LANE_FORMATS", "VECTOR", "WIDE_VECTOR", "LaneFormat", "hashed"]

VECTOR = ir.VectorType(ir.FloatType(), LANES)
WIDE_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INT = ir.IntType(32)
INTS = ir.VectorType(_INT, LANES)
FAST = ("nnan", "ninf", "nsz", "contract")
_HALVES = ir.VectorType(ir.HalfType(), LANES)
_SHORTS = ir.VectorType(ir.IntType(16), LANES)


class LaneFormat(NamedTuple):
    """How sixteen numbers are stored in an array of a given type."""

    vector: Any  # in memory
    load: Callable[[Any, Any], Any] = lambda builder, stored: stored  # to floats
    store: Callable[[Any, Any, Any], Any] | None = None  # from 32-bit floats and random 32-bit numbers


def hashed(builder: Any, seed: Any) -> Any:
    """A 32-bit number that looks random."""
    number = builder.trunc(builder.mul(seed, ir.Constant(seed.type, 0x9E3779B97F4A7C15)), _INT)
    return builder.mul(builder.xor(number, builder.lshr(number, _INT(15))), _INT(0x85EBCA6B))


def _as_halves(builder: Any, value: Any, chance: Any) -> Any:
    """Add up to half a step at random, except to 0, then round to nearest."""
    value = _between(builder, value, -65504.0, 65504.0)
    steps = builder.ashr(chance, ir.Constant(INTS, [32 - 13] * LANES))  # a half lacks the last 13 bits
    moved = builder.bitcast(builder.add(builder.bitcast(value, INTS), steps), VECTOR)
    is_zero = builder.fcmp_ordered("==", value, ir.Constant(VECTOR, [0.0] * LANES))
    return builder.fptrunc(builder.select(is_zero, value, moved), _HALVES)


def _as_whole(builder: Any, value: Any, chance: Any) -> Any:
    """Add a random number below 1, then truncate."""
    exponent = ir.Constant(INTS, [0x3F800000] * LANES)  # followed by random bits: a number from 1 to 2
    ahead = builder.bitcast(builder.or_(builder.lshr(chance, ir.Constant(INTS, [9] * LANES)), exponent), VECTOR)
    moved = builder.fadd(builder.fsub(value, ir.Constant(VECTOR, [1.0] * LANES)), ahead)
    return builder.trunc(builder.fptosi(_between(builder, moved, 0.0, 65535.0), INTS), _SHORTS)


def _between(builder: Any, value: Any, low: float, high: float) -> Any:
    for sign, bound in (("<", high), (">", low)):
        limit = ir.Constant(VECTOR, [bound] * LANES)
        value = builder.select(builder.fcmp_ordered(sign, value, limit, flags=FAST), value, limit)
    return value


def _from_halves(builder: Any, stored: Any) -> Any:
    return builder.fpext(stored, VECTOR)


def _from_whole(builder: Any, stored: Any) -> Any:
    return builder.sitofp(builder.zext(stored, INTS), VECTOR)


LANE_FORMATS = {
    types.float32: LaneFormat(VECTOR),
    types.float64: LaneFormat(WIDE_VECTOR),
    types.int16: LaneFormat(_HALVES, _from_halves, _as_halves),
    types.uint16: LaneFormat(_SHORTS, _from_whole, _as_whole),
}
