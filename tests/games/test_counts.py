"""Published game sizes, and agreement with OpenSpiel's trees: terminals, payoffs, information sets."""

from collections import Counter

import pytest

from regretless import games
from regretless.games import CHANCE

COUNTS = {  # chance, decision, terminal, information sets
    "kuhn": (4, 24, 30, 12),
    "kuhn(players=3)": (17, 288, 312, 48),
    "leduc": (157, 3780, 5520, 936),
    "leduc(merge_suits=True)": (49, 774, 1116, 288),
    "leduc(ranks=6)": (673, 40392, 59928, 4032),
    "liars_dice(sides=4)": (5, 4096, 4080, 1024),
    "liars_dice(sides=5)": (6, 25600, 25575, 5120),
    "liars_dice": (7, 147456, 147420, 24576),
    "push-fold": (170, 28730, 57291, 338),
    "goofspiel": (0, 501, 576, 162),
    "goofspiel(cards=5)": (0, 12531, 14400, 2124),
    "goofspiel(cards=6)": (0, 451123, 518400, 34482),
    "battleship(shots=3)": (0, 378631, 1893164, 160491),
}
LARGE = {"liars_dice", "goofspiel(cards=6)", "battleship(shots=3)"}

BOARD = "battleship(board_width=3,board_height=2,ship_sizes=[2],ship_values=[1.0],num_shots=2"
FLEET = "battleship(board_width=2,board_height=2,ship_sizes=[1;2],ship_values=[1.0;2.5],num_shots=2"
SAME_TREE = {
    "kuhn": "kuhn_poker",
    "kuhn(players=3)": "kuhn_poker(players=3)",
    "leduc": "leduc_poker",
    "liars_dice(sides=4)": "liars_dice(dice_sides=4)",
    "liars_dice(sides=5)": "liars_dice(dice_sides=5)",
    "liars_dice(dice=2,sides=2)": "liars_dice(numdice=2,dice_sides=2)",
    "goofspiel": "goofspiel(imp_info=True,points_order=descending,num_cards=4)",
    "goofspiel(order=ascending)": "goofspiel(imp_info=True,points_order=ascending,num_cards=4)",
    "battleship": f"{BOARD})",
    "battleship(repeat_shots=False)": f"{BOARD},allow_repeated_shots=False)",
    "battleship(width=2,ships=(1,2),values=(1,2.5),loss_multiplier=2)": f"{FLEET},loss_multiplier=2.0)",
}


@pytest.mark.parametrize(
    "text", [pytest.param(text, marks=[pytest.mark.slow] if text in LARGE else []) for text in COUNTS]
)
def test_counts(text, walk):
    game = games.load(text)
    counts, keys = Counter(), set()
    for node in walk(game):
        counts[node.player] += 1
        if node.player is not None and node.player != CHANCE:
            keys.add(game.info_set_key(node.state))
    decisions = sum(counts[player] for player in range(game.num_players()))
    assert (counts[CHANCE], decisions, counts[None], len(keys)) == COUNTS[text]


def shape(game, walk):
    """What two descriptions of one game must have in common, regardless of names."""
    endings, sets = Counter(), {}
    for depth_first in walk(game):
        state, depth, player, reach, recall = depth_first
        if player is None:
            payoffs = tuple(round(utility, 9) for utility in game.utilities(state))
            endings[depth, round(reach, 9), payoffs, tuple(map(len, recall))] += 1
        elif player != CHANCE:
            found = sets.setdefault(game.info_set_key(state), [player, depth, len(game.actions(state)), 0, 0.0])
            found[3] += 1
            found[4] += reach
    return endings, Counter((*found[:4], round(found[4], 9)) for found in sets.values())


@pytest.mark.parametrize("text", SAME_TREE)
def test_the_tree_is_openspiels(text, walk):
    pytest.importorskip("pyspiel")
    ours, theirs = games.load(text), games.load("openspiel:" + SAME_TREE[text])
    assert shape(ours, walk) == shape(theirs, walk)
    assert ours.zero_sum == theirs.zero_sum
