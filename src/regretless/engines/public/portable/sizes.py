"""How much memory the PyTorch engine takes for a form of a given size; knows nothing of PyTorch, which loads slowly."""

from __future__ import annotations

from regretless.engines.public.formats import NUMBER_FORMATS, number_format
from regretless.engines.public.layout import LANES, padded
from regretless.errors import Advice, WouldNotFit, memory_text
from regretless.forms.public import NodeKind
from regretless.forms.public_size import PublicSize

__all__ = ["BLOCK_BYTES", "block_runouts", "check_fits", "estimate", "working_bytes"]

# Working tensors of a block: on a CPU they should stay in its caches, on a GPU there should be work for all of it.
BLOCK_BYTES = {"cpu": 16 * 2**20, "cuda": 2 * 2**30, "mps": 2**29}

FOLD_ROWS = 4  # that a hand sums at a fold
SHOWDOWN_ROWS = 3 + 4 + 4  # at a showdown: weaker hands, weaker or equal ones, all
MOST_SYMMETRIES = 30  # sets of equivalent hands: subgroups of the permutations of suits


def most_listed(size: PublicSize) -> tuple[int, int]:
    """At most how many places the lists of each player's hands have (`terminals.Showdowns`)."""
    longest = [min(size.deck, hands) for hands in size.hands]
    first, second = (
        padded(hands) + each * (1 + min(size.deck, 2 * hands)) for hands, each in zip(size.hands, longest, strict=True)
    )
    return first, second


def block_runouts(size: PublicSize, listed: tuple[int, int], *, device: str, wide: bool) -> int:
    """How many runouts of the last street are walked at once; `listed` places in the lists of each player's hands."""
    return max(1, min(int(size.runouts[-1]), BLOCK_BYTES[device] // max(_street_bytes(size, -1, listed, wide), 1)))


def working_bytes(size: PublicSize, listed: tuple[int, int], *, device: str, wide: bool) -> int:
    """Bytes of the tensors of a walk."""
    last = block_runouts(size, listed, device=device, wide=wide) * _street_bytes(size, -1, listed, wide)
    return last + _before_last(size, wide)


def _before_last(size: PublicSize, wide: bool) -> int:
    streets = range(len(size.runouts) - 1)
    return sum(int(size.runouts[street]) * _street_bytes(size, street, (0, 0), wide) for street in streets)


def _most_working(size: PublicSize, device: str, wide: bool) -> int:
    """`working_bytes` if the lists are as long as they can be; a block has at least one runout."""
    street = _street_bytes(size, -1, most_listed(size), wide)
    return max(street, min(int(size.runouts[-1]) * street, BLOCK_BYTES[device])) + _before_last(size, wide)


def estimate(
    size: PublicSize,
    *,
    storage: int = 32,
    threads: int = 1,
    device: str = "cpu",
    predicts: bool = False,
    wide: bool = False,
) -> int:
    """Bytes of an engine, `PortablePublicEngine.memory_bytes`.

    `predicts`: the variant keeps predictions beside the regrets; `wide`: terminals need 64-bit numbers. The number of
    threads does not matter.
    """
    number = number_format(storage)
    hands = [padded(each) for each in size.hands]
    entry = number.entry_bytes + (number.regret.itemsize if predicts else 0)
    entries = sum(int(size.runouts @ size.actions[:, player]) * hands[player] for player in range(2))
    return entries * entry + _tables(size, storage, device, wide) + _most_working(size, device, wide)


def check_fits(size: PublicSize, *, storage: int, predicts: bool, wide: bool, free: int) -> None:
    """Raise `WouldNotFit` if a CUDA device has too little free memory, and say what would fit."""
    options = {"predicts": predicts, "wide": wide}
    needed = {bits: estimate(size, storage=bits, device="cuda", **options) for bits in NUMBER_FORMATS}
    if needed[storage] > free:
        advice = Advice("device", "cpu", "uses the memory of the machine")
        if needed[16] <= free:
            advice = Advice("storage", 16, f"needs {memory_text(needed[16])}, which fits")
        raise WouldNotFit(
            f"the solve in {storage} bits on the CUDA device", needed=needed[storage], available=free, advice=[advice]
        )


def _lines(size: PublicSize, street: int) -> int:
    """Lines into a street; the last street may be number −1."""
    number = street % len(size.runouts)
    return int(size.nodes[number - 1, NodeKind.CHANCE]) if number else 1


def _street_bytes(size: PublicSize, street: int, listed: tuple[int, int], wide: bool) -> int:
    """Bytes of the working tensors on one runout of a street."""
    lines, most = _lines(size, street), 0
    entries, decisions = size.actions[street], size.decisions[street]
    folds, showdowns = int(size.nodes[street, NodeKind.FOLD]), int(size.nodes[street, NodeKind.SHOWDOWN])
    for own in range(2):
        hands, others = padded(size.hands[own]), padded(size.hands[1 - own])
        mine, theirs = int(entries[own]), int(entries[1 - own])
        # Strategies and reach of both players; values, those of decisions, and two temporaries as long as regrets.
        walk = theirs * others + mine * hands + (lines + theirs) * others + (lines + mine) * hands
        walk += (mine + theirs + lines + int(decisions[own]) + 2 * mine) * hands
        # Reach, sums, and values twice: as they are found and transposed.
        at_folds = folds * (others + size.deck + others + 2 + 2 * hands)
        at_showdowns = showdowns * (others + others + 1 + listed[1 - own] + 4 * hands)
        most = max(most, 4 * walk + (8 if wide else 4) * max(at_folds, at_showdowns))
    return most


def _tables(size: PublicSize, storage: int, device: str, wide: bool) -> int:
    """Bytes of the tables of `blocks`, `terminals` and `numbers`."""
    hands = [padded(each) for each in size.hands]
    runouts, number = int(size.runouts.sum()), 8 if wide else 4
    block = block_runouts(size, (0, 0), device=device, wide=wide)  # at most
    before, last = [1, *map(int, size.runouts)][-2:]
    parents = min(before, -(-block * before // last) + 1)
    total = 0
    for own in range(2):
        mine, others = hands[own], hands[1 - own]
        total += (
            runouts * (4 * others + 8 * (1 + size.permutations * parents)) + 8 * mine * size.permutations
        )  # who is alive, copies
        total += 4 * mine * FOLD_ROWS * runouts + int(size.runouts[-1]) * 4 * (
            SHOWDOWN_ROWS * mine + most_listed(size)[1 - own]
        )
        total += number * (size.deck + 1) * others  # `holders`
        signs = 3 + 4
        total += number * signs * mine * max(block, *(int(each) for each in size.runouts[:-1]), 1)
        total += int(size.nodes.sum()) * 4 * 8  # rows of a walk
        total += 3 * 8 * int(size.actions[:, own].sum()) * (mine // LANES)  # `stored` of regrets, averages, predictions
        if storage < 32:
            total += 12 * runouts + 4 * int(size.actions[:, own].sum()) + 4 * mine * MOST_SYMMETRIES
    return total
