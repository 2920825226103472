"""What a training writes for TensorBoard: losses, memories and exploitability, by iteration; without TensorBoard.

An event file is a sequence of records, each an `Event` in protocol buffers:

    8 bytes   length of the event, little-endian         4 bytes   its masked CRC-32C
    length    the event                                  4 bytes   its masked CRC-32C

    Event      1: wall time (double)   2: step (int64)   3: file version (string)   5: Summary
    Summary    1: Value, repeated
    Value      1: tag (string)         2: number (float)

The format is TensorFlow's (tsl/lib/io/record_writer.h, tensorflow/core/util/event.proto). Every record is written to
disk at once, so a page of TensorBoard follows a training while it runs.
"""

from __future__ import annotations

import os
import socket
import struct
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from regretless.engines import Evaluation
from regretless.errors import InvalidFile
from regretless.files.atomic import reason
from regretless.files.state import open_state

if TYPE_CHECKING:
    from regretless.deep.deep_cfr import IterationReport

__all__ = ["EventFile", "Scalars", "crc32c"]


POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected
MASK = 0xA282EAD8
VERSION = b"brain.Event:2"


class Scalars:
    """A watcher that writes scalars to a folder; if that fails later, it warns, and the training continues."""

    def __init__(self, folder: str | Path) -> None:
        self._events: EventFile | None = EventFile(folder)

    def iterated(self, report: IterationReport) -> None:
        scalars = {f"loss/player {player}": loss for player, loss in enumerate(report.value_losses)}
        scalars |= {f"memory/advantages {player}": fill for player, fill in enumerate(report.advantage_fill)}
        if report.strategy_fill:
            scalars["memory/strategies"] = report.strategy_fill
        scalars |= {"speed/seconds per iteration": report.seconds, "speed/samples per iteration": report.samples}
        self._add(report.iteration, scalars)

    def measured(self, iteration: int, evaluation: Evaluation) -> None:
        scalars = {f"value/player {player}": value for player, value in enumerate(evaluation.values)}
        self._add(iteration, {"exploitability": evaluation.exploitability} | scalars)

    def _add(self, step: int, scalars: Mapping[str, float]) -> None:
        if self._events is None:
            return
        try:
            self._events.add(step, scalars)
        except InvalidFile as error:  # for example a full disk
            warnings.warn(f"{error}; the training continues without TensorBoard", stacklevel=2)
            self._events = None


def _table() -> tuple[int, ...]:
    rows = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
        rows.append(byte)
    return tuple(rows)


_TABLE = _table()


def crc32c(content: bytes) -> int:
    """The CRC-32C of some bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    state = 0xFFFFFFFF
    for byte in content:
        state = (state >> 8) ^ _TABLE[(state ^ byte) & 0xFF]
    return state ^ 0xFFFFFFFF


class EventFile:
    """A new event file in a folder, which TensorBoard takes for a run; the folder is created if it is missing."""

    def __init__(self, folder: str | Path) -> None:
        name = f"events.out.tfevents.{time.time_ns() // 10**9}.{socket.gethostname()}.{os.getpid()}"
        self.path = Path(folder) / name
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = open_state(self.path, self.path.parent, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            self._file = open(descriptor, "ab", buffering=0)  # noqa: SIM115 (open as long as the training runs)
        except OSError as error:
            raise InvalidFile(folder, f"cannot hold TensorBoard's files: {reason(error)}") from None
        self._write(_bytes_field(3, VERSION))

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Add numbers by tag, such as "loss/player 0", at a step."""
        values = (
            _bytes_field(1, tag.encode()) + b"\x15" + struct.pack("<f", number) for tag, number in scalars.items()
        )
        summary = b"".join(_bytes_field(1, value) for value in values)
        self._write(b"\x10" + _varint(step) + _bytes_field(5, summary))

    def close(self) -> None:
        self._file.close()

    def _write(self, event: bytes) -> None:
        event = b"\x09" + struct.pack("<d", time.time()) + event
        length = struct.pack("<Q", len(event))
        try:
            self._file.write(length + _masked(length) + event + _masked(event))
        except OSError as error:
            raise InvalidFile(self.path, f"cannot be written: {reason(error)}") from None


def _masked(content: bytes) -> bytes:
    """A CRC-32C, changed so that a CRC over bytes that contain CRCs stays a good one."""
    crc = crc32c(content)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + MASK) & 0xFFFFFFFF)


def _bytes_field(number: int, content: bytes) -> bytes:
    """A field of bytes, a text or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """A whole number of at least 0, seven bits per byte, the lowest first."""
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*content, number])
