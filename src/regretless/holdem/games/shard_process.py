"""A shard in a process of its own: `python -m regretless.holdem.games.shard_process`. `shards.py` says what it is told.

If stdin ends, the supervisor has died or needs no more: the process removes the folder of the exchanged files and ends.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from regretless.engines import Arriving, Mode, ShardEngine, ShardWalk, Shelf
from regretless.errors import Advice, RegretlessError
from regretless.files.atomic import reason
from regretless.holdem.flops import read_flops
from regretless.holdem.games.game import HoldemGame
from regretless.holdem.games.real_cards import compile_game
from regretless.holdem.games.shards import ShardTask
from regretless.supervision import Channel, Message, limit_memory
from regretless.variants.variant import ROW

__all__ = ["create_shard", "main"]

MAX_REMOVALS = 100  # attempts to remove the folder


def main() -> int:
    """Carry out orders until stdin ends."""
    channel = Channel()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the supervisor's terminal reaches this process too
    task = ShardTask(**json.loads(sys.stdin.readline()))

    def end() -> None:
        for _ in range(MAX_REMOVALS):
            shutil.rmtree(task.folder, ignore_errors=True)
            if not os.path.exists(task.folder):  # otherwise this process or another shard's was writing a file
                break
            time.sleep(0.01)
        os._exit(0)

    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    channel.listen(orders.put, end)
    limit_memory(1.0)
    try:
        shard = create_shard(task)
        while True:
            channel.send(_carried_out(json.loads(orders.get()), shard, task))
    except RegretlessError as error:
        channel.send({"error": error.worded(Advice.in_words)})
        return error.exit_code
    except OSError as error:
        channel.send({"error": f"shard {task.number + 1}: {task.sums} cannot be written: {reason(error)}"})
        return 1
    except MemoryError:
        channel.send({"error": f"shard {task.number + 1}: not enough memory"})
        return 3


def create_shard(task: ShardTask) -> ShardEngine:
    """The engine of a task."""
    form = compile_game(HoldemGame.parse(task.game), read_flops(task.flops), part=(task.first, task.last))
    return ShardEngine(task.create(form))


def _carried_out(order: dict[str, Any], shard: ShardEngine, task: ShardTask) -> Message:
    """Carry out an order; returns the answer."""
    name = order.pop("order")
    if name == "memory":
        return {"bytes": shard.engine.memory_bytes}
    if name == "walk":
        sums = shard.walk(_walk(order, task.arriving))
        task.sums.write_bytes(sums.tobytes())
        return {"shape": sums.shape}
    shelf = Shelf(**{**order, "folder": Path(order["folder"])})
    (shard.save if name == "save" else shard.load)(shelf)
    return {}


def _walk(order: dict[str, Any], arriving: Path) -> ShardWalk:
    (lines, opponent), (_, own) = order["shapes"]
    reach = np.fromfile(arriving, dtype=order["dtype"])
    first, second = reach[: lines * opponent], reach[lines * opponent :]
    return ShardWalk(
        own=order["own"],
        mode=Mode[order["mode"]],
        arriving=Arriving(first.reshape(lines, opponent), second.reshape(lines, own)),
        schedule=None if order["row"] is None else np.array([tuple(order["row"])], dtype=ROW),
    )


if __name__ == "__main__":
    sys.exit(main())
