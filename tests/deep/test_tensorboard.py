"""TensorBoard's files, read back by an independent decoder: Google's protocol buffers."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from regretless.deep.tensorboard import EventFile, crc32c
from regretless.errors import InvalidFile


def event_type() -> Any:
    """The message `Event` of tensorflow/core/util/event.proto, as far as scalars need it."""
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="tb", syntax="proto3")
    for message, fields in {
        "Value": [("tag", 1, kinds.TYPE_STRING, ""), ("simple_value", 2, kinds.TYPE_FLOAT, "")],
        "Summary": [("value", 1, kinds.TYPE_MESSAGE, ".tb.Value")],
        "Event": [
            ("wall_time", 1, kinds.TYPE_DOUBLE, ""),
            ("step", 2, kinds.TYPE_INT64, ""),
            ("file_version", 3, kinds.TYPE_STRING, ""),
            ("summary", 5, kinds.TYPE_MESSAGE, ".tb.Summary"),
        ],
    }.items():
        added = file.message_type.add(name=message)
        for name, number, kind, of in fields:
            label = kinds.LABEL_REPEATED if name == "value" else kinds.LABEL_OPTIONAL
            added.field.add(name=name, number=number, type=kind, label=label, **({"type_name": of} if of else {}))
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tb.Event"))


def records(path: Path) -> list[bytes]:
    """The records of a file, as TensorFlow's reader checks them."""
    content, found = path.read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        for part, at in ((content[:8], 8), (content[12 : 12 + length], 12 + length)):
            (masked,) = struct.unpack("<I", content[at : at + 4])
            rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
            assert ((rotated >> 17) | (rotated << 15)) & 0xFFFFFFFF == crc32c(part)
        found.append(content[12 : 12 + length])
        content = content[16 + length :]
    return found


def test_scalars_are_read_back(tmp_path: Path) -> None:
    made = EventFile(tmp_path / "runs" / "kuhn")
    made.add(1, {"exploitability": 0.25, "loss/player 0": 3.0})
    made.add(70_000, {"exploitability": 1e-9})
    made.close()
    assert made.path.name.startswith("events.out.tfevents.")
    kind = event_type()
    version, first, second = (kind.FromString(each) for each in records(made.path))
    assert version.file_version == "brain.Event:2"
    assert (first.step, second.step) == (1, 70_000)
    assert {value.tag: value.simple_value for value in first.summary.value} == {
        "exploitability": 0.25,
        "loss/player 0": 3.0,
    }
    assert second.summary.value[0].simple_value == pytest.approx(1e-9)
    assert 0 <= second.wall_time - version.wall_time < 60


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InvalidFile, match=r"file/runs: cannot hold TensorBoard's files: "):
        EventFile(tmp_path / "file" / "runs")
