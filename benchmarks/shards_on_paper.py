"""What a whole game on all flops would take in shards, from figures that were measured on fewer: nothing is solved.

    python benchmarks/shards_on_paper.py benchmarks/spots/tutorial_20bb.toml

An iteration's time and memory are in proportion to a form's entries (actions × hands). Measured: one H200 with 25 flops
in 16 bits (`docs/performance.md`, whole games with real cards), and 16 threads of its host in 32 bits on flop_3bet
(`engines/devices.py`). Assumed: what a network does, below.

Each iteration has two walks, one per player. In each, the trunk sends every shard the same reach, of both players where
the lines of the flop begin, in 32 bits; a shard sends back a sum per line, hand and block of flops, in 64 bits. The
trunk adds them up and walks the first street, which is timed here.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from regretless.cards.hands import HAND_COUNT
from regretless.engines import Mode, create_part, shard_ranges
from regretless.engines.layout import padded, shard_ends
from regretless.forms.parts import part_of
from regretless.forms.walking import walking_order
from regretless.holdem.flops import read_flops
from regretless.holdem.games.game import HoldemGame, read_spot_or_game
from regretless.holdem.games.real_cards import compile_game, game_size
from regretless.variants import PRESETS, schedule

GPU_SECONDS, GPU_BYTES, GPU_FLOPS = 0.33, 87e9, "subset(25)"  # of an iteration on one H200, in 16 bits
CPU_ENTRIES, CPU_SECONDS = 155_952_394, 0.034  # of flop_3bet on 16 threads
NETWORK = 12.5e9  # bytes per second into or out of the trunk: 100 Gbit/s
LATENCY = 0.001  # seconds, of every message to all shards and of all answers
PLAYERS = 2


def main() -> None:
    parser = argparse.ArgumentParser(description="What a whole game on all flops would take in shards, on paper")
    parser.add_argument("game", type=Path)
    path = parser.parse_args().game
    game = read_spot_or_game(path)
    assert isinstance(game, HoldemGame)
    every = sorted(read_flops("all"), key=lambda flop: flop.cards)
    measured = game_size(game, read_flops(GPU_FLOPS)).entries
    entries = [game_size(game, [flop]).entries for flop in every]
    total = sum(entries)
    print(f"{path.stem}: {total / 1e9:,.0f} billion entries on {len(every):,} flops; {measured / 1e9:,.1f} on 25")
    print(f"memory in 16 bits: {total / measured * GPU_BYTES / 1e12:.2f} TB")
    rivers = int(game_size(game, every).runouts[-1])
    print(f"the trunk's tables of {rivers:,} runouts: {rivers * HAND_COUNT * 3 / 1e9:.1f} GB")  # strengths, dead hands
    lines, hands, trunk = time_trunk(game)
    print(f"trunk: {lines} lines × {hands:,} numbers per player; {1e3 * trunk:.1f} ms per iteration on this machine")
    for what, shards, seconds, size in (
        ("GPUs", 64, GPU_SECONDS / measured, GPU_BYTES / measured),
        ("machines of 16 threads", 40, CPU_SECONDS / CPU_ENTRIES, GPU_BYTES / measured),
    ):
        ranges = shard_ranges(len(every), shards)
        of_shards = [sum(entries[first:last]) for first, last in ranges]
        largest, ends = max(of_shards), shard_ends(len(every))
        out = shards * PLAYERS * lines * 2 * hands * 4
        back = (len(ends) - 1) * PLAYERS * lines * hands * 8
        walk, exchange = largest * seconds, (out + back) / NETWORK + 2 * PLAYERS * LATENCY
        print(f"\n{shards} {what}: {min(b - a for a, b in ranges)} to {max(b - a for a, b in ranges)} flops each")
        print(f"  memory of the largest shard     {largest * size / 1e9:8.0f} GB in 16 bits")
        uneven = largest / float(np.mean(of_shards))
        print(f"  its walks                       {walk:8.2f} s per iteration ({uneven:.2f} times the mean)")
        print(f"  bytes out of and into the trunk {out / 1e6:8.1f} MB and {back / 1e6:.1f} MB per iteration")
        print(f"  exchange                        {1e3 * exchange:8.1f} ms per iteration")
        print(f"  together with the trunk         {walk + exchange + trunk:8.2f} s per iteration")


def time_trunk(game: HoldemGame) -> tuple[int, int, float]:
    """Lines of the flop, numbers per line and player, and seconds per iteration in the trunk with 64 blocks."""
    form = compile_game(game, read_flops("7c 7d 7h"))
    trunk = create_part("numba", part_of(form, 0, 0), storage=16, threads=1)
    lines, hands = len(walking_order(form.tree).lines_of(1)), padded(len(form.hands[0].weight))
    sums = np.random.default_rng(0).normal(size=(len(shard_ends(1755)) - 1, lines, hands))
    rows, seconds = schedule(PRESETS["postflop"], first=1, count=20), []
    for number in range(len(rows)):
        began = time.perf_counter()
        trunk.begin(rows[number : number + 1])
        for own in range(PLAYERS):
            trunk.down(own, Mode.LEARN)
            trunk.up(own, Mode.LEARN, sums)
        seconds.append(time.perf_counter() - began)
    return lines, hands, float(np.median(seconds))


if __name__ == "__main__":
    main()
