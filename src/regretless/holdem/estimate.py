"""How large a spot is, and how much memory solving it takes, without building anything that grows with it.

The engine estimates its memory from the size of the form (`forms/public_size.py`). Repeated subtrees of the betting
tree are counted once, so even a tree of a million nodes is estimated quickly.

Memory includes what follows the solve: values before the last street, which every answer needs, and the blocks in which
strategies are written to a file.

A file holds the form, strategies, values and equities (`reading/spot_file.py`) and, if it is to be resumed, what the
engine has learned.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from regretless.cards.deck import DECK
from regretless.cards.hands import HAND_CARDS
from regretless.engines import NUMBER_FORMATS, FormKind, estimate, learned_bytes
from regretless.forms.public_size import PublicSize, count_holders
from regretless.holdem.form.runouts import SpotParts, parts_of
from regretless.holdem.form.suits import count_runouts
from regretless.holdem.reading.encoded_strategies import BLOCK_BYTES, blocks_at_once, probability_bits
from regretless.holdem.spots.spot import Spot

__all__ = ["STORAGES", "Estimate", "estimate_spot", "spot_size"]

STORAGES = tuple(NUMBER_FORMATS)  # bits per stored number
HEADER_BYTES = 1500  # of a file, for each street and once more: names and checks of arrays, the spot, the record


@dataclass(frozen=True)
class Estimate:
    """The size of a spot."""

    nodes: int  # public nodes, including chance and terminals; equivalent runouts count once
    node_kinds: dict[str, int]  # "action", "chance", "fold", "showdown"
    betting_nodes: int  # of the betting tree, without cards
    runouts: tuple[int, ...]  # deals solved on each street
    hands: dict[str, int]  # "oop" and "ip": hands in their ranges that the board does not block
    entries: int  # actions × hands over all decisions
    information_sets: int  # hands over all decisions
    solving_bytes: dict[int, int]  # by bits of storage: memory of the solve
    memory_bytes: dict[int, int]  # by bits of storage: including reading and saving the answer
    file_bytes: int  # of a saved solution
    resumable_bytes: dict[int, int]  # by bits of storage: of one that is saved with its regrets

    def as_json(self) -> dict[str, object]:
        """What `regretless estimate --json` prints."""
        answer = asdict(self)
        answer["runouts"] = list(self.runouts)
        for name in ("solving_bytes", "memory_bytes", "resumable_bytes"):
            answer[name] = {str(bits): size for bits, size in answer[name].items()}
        return answer


def spot_size(spot: Spot, parts: SpotParts | None = None) -> PublicSize:
    """The size of a spot's form; `parts` are `parts_of(spot)`, if they are known already."""
    parts = parts_of(spot) if parts is None else parts
    (ip, oop), group = parts.hand_numbers, parts.group
    return parts.betting.size.with_cards(
        deck=DECK,
        hands=(len(ip), len(oop)),
        permutations=len(group),
        runouts=count_runouts(spot, group),
        holders=(count_holders(HAND_CARDS[ip]), count_holders(HAND_CARDS[oop])),
    )


def estimate_spot(spot: Spot, *, threads: int = 1, predicts: bool = False, size: PublicSize | None = None) -> Estimate:
    """Nodes, hands, entries and bytes of a spot; `size` is `spot_size(spot)`, if it is known already.

    `predicts`: the variant stores predictions beside the regrets.

    >>> fields = {"board": "Kh Qs Js 2c 3d", "pot": 100, "stack": 200, "oop": {"range": "AK"}, "ip": {"range": "QQ"}}
    >>> answer = estimate_spot(Spot.from_mapping(fields | {"bets": {"bet": "50%", "raise": "a"}}))
    >>> answer.nodes, answer.hands, answer.entries
    (15, {'oop': 12, 'ip': 3}, 105)
    """
    size = spot_size(spot) if size is None else size
    hands = size.hands
    kinds = [int(count) for count in size.public_nodes]
    values = int(size.runouts[:-1] @ size.nodes[:-1].sum(axis=1)) * sum(hands) * 4
    kept = size.entries - size.information_sets  # probabilities of all actions but the last
    saving = values + _block_bytes(kept, threads)
    equities = int(size.nodes[0].sum()) * sum(hands) * 4 if len(size.runouts) == 3 else 0
    file = _form_bytes(size) + kept * probability_bits(kept) // 8 + values + equities
    file += HEADER_BYTES * (len(size.runouts) + 1)
    learned = {bits: learned_bytes(size, storage=bits, predicts=predicts) for bits in STORAGES}
    options = {"threads": threads, "predicts": predicts}
    solving = {bits: estimate("numba", FormKind.PUBLIC, size, storage=bits, **options) or 0 for bits in STORAGES}
    return Estimate(
        nodes=sum(kinds),
        node_kinds=dict(zip(("action", "chance", "fold", "showdown"), kinds, strict=True)),
        betting_nodes=int(size.nodes.sum()),
        runouts=tuple(map(int, size.runouts)),
        hands={"oop": hands[1], "ip": hands[0]},
        entries=size.entries,
        information_sets=size.information_sets,
        solving_bytes=solving,
        memory_bytes={bits: needed + saving for bits, needed in solving.items()},
        file_bytes=file,
        resumable_bytes={bits: file + learned[bits] for bits in STORAGES},
    )


def _form_bytes(size: PublicSize) -> int:
    """The form in a file: dead hands and strengths, and a few numbers for each runout, merged or not."""
    hands, runouts, streets = sum(size.hands), int(size.runouts.sum()), len(size.runouts)
    unseen = DECK - 6 + streets
    deals = math.prod(range(unseen, unseen - streets + 1, -1))  # of the last street
    return runouts * (hands + 13) + 2 * int(size.runouts[-1]) * hands + 2 * deals + 2 * size.permutations * hands


def _block_bytes(kept: int, threads: int) -> int:
    """The blocks in memory at a time while strategies are written, of `kept` numbers in total."""
    return min(kept * probability_bits(kept) // 8, BLOCK_BYTES * blocks_at_once(threads))
