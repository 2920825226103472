"""Reading games from the deal by lines of play: what each hand does on any board, and what is wrong with a line."""

from __future__ import annotations

import numpy as np
import pytest

from regretless.cards.deck import parse_board
from regretless.cards.hands import CLASS_NAMES, HAND_CARDS, HAND_CLASS, HAND_COUNT, hand_index, hand_text
from regretless.cards.isomorphism import CARD_MAPS
from regretless.errors import InvalidText
from regretless.forms.public import PublicForm
from regretless.games import FlopHoldem
from regretless.holdem.games.flop_holdem import compile_flop_holdem
from regretless.holdem.games.reader import DealtFormReader, FlopHoldemReader


class Drawn:
    """A strategy that differs at every node and runout; equivalent hands on a runout have equal rows."""

    def __init__(self, form: PublicForm) -> None:
        self.form = form

    def strategy(self, node: int, runout: int) -> np.ndarray:
        tree = self.form.tree
        player, street = int(tree.player[node]), int(tree.street[node])
        actions = int(tree.first_child[node + 1] - tree.first_child[node])
        strategy = np.random.default_rng((node, runout)).uniform(0.1, 1.0, (actions, HAND_COUNT))
        strategy = strategy[:, self.form.symmetry.hands[player][self.form.streets[street].symmetry[runout]]]
        return strategy / strategy.sum(axis=0)


@pytest.fixture(scope="module")
def reader() -> FlopHoldemReader:
    form = compile_flop_holdem(FlopHoldem())
    return FlopHoldemReader(form, Drawn(form))


def test_the_first_round(reader: FlopHoldemReader) -> None:
    root = reader.played(reader.root)
    assert (root.player, root.actions, root.line) == ("ip", ("fold", "call", "raise 200"), "")
    np.testing.assert_array_equal(root.hand, np.arange(HAND_COUNT))
    np.testing.assert_allclose(root.weight, 1225)  # every hand faces those of the other fifty cards
    assert sum(root.frequencies) == pytest.approx(1)
    assert root.grid().shape == (169, 3)
    assert not np.isnan(root.grid()).any()
    answer = root.as_json()
    assert len(answer["hands"]) == 1326
    assert len(answer["classes"]) == 169
    assert answer["hands"]["AhKh"]["call"] == answer["hands"]["AsKs"]["call"]


def test_strategies_of_the_first_round_have_the_keys_of_the_rules(reader: FlopHoldemReader) -> None:
    game, strategies = FlopHoldem(), reader.preflop()
    assert len(strategies) == 8 * 1326
    state = game.initial_state()
    for action in ("KhAh", "2c2d", "call"):
        state = game.next_state(state, action)
    assert list(strategies[game.info_set_key(state)]) == list(game.actions(state))
    assert list(strategies["AhKh:"]) == ["fold", "call", "raise 200"]


@pytest.mark.parametrize("line", ["call, check, Qs Jh 2h", "call, check, QsJh2h, check", "raise 200, call, 2h, Qs, Jh"])
def test_any_node_of_the_flop(reader: FlopHoldemReader, line: str) -> None:
    played = reader.played(reader.find(line))
    assert played.player == ("ip" if line.endswith("check") else "oop")
    assert len(played.hand) == 1176
    assert not np.isin(HAND_CARDS[played.hand], parse_board("Qs Jh 2h")).any()
    np.testing.assert_allclose(played.strategy.sum(axis=0), 1)
    assert reader.played(reader.find(played.line)).line == played.line


def test_flops_that_differ_only_in_suits_are_equivalent(reader: FlopHoldemReader) -> None:
    """The same hand with suits renamed like the flop's has the same strategy and weight."""
    first = reader.played(reader.find("call, raise 200, call, Qs Jh 2d, check"))
    by_hand = {int(hand): position for position, hand in enumerate(first.hand)}
    for row in range(1, 24):
        flop = [int(CARD_MAPS[row, card]) for card in parse_board("Qs Jh 2d")]
        node = reader.find("call, raise 200, call")
        after = reader.played(reader.act(reader.deal(node, *flop), 0))
        names = [hand_index(*(int(CARD_MAPS[row, card]) for card in HAND_CARDS[hand])) for hand in first.hand]
        renamed = [list(after.hand).index(name) for name in names[::100]]
        original = [by_hand[int(hand)] for hand in first.hand[::100]]
        np.testing.assert_allclose(after.strategy[:, renamed], first.strategy[:, original])
        np.testing.assert_allclose(after.weight[renamed], first.weight[original])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("call, check, Qs Jh", "3 cards are dealt here"),
        ("call, check, Qs Jh, check", "3 cards are dealt here"),
        ("call, check, Qs Jh Qs", "Qs is already on the board"),
        ("call, Qs Jh 2h", "no card is dealt here; choose from check, raise 200"),
        ("call, check, Qs Jh 2h, bet 100", "no 'bet 100' here; choose from check, raise 200"),
    ],
)
def test_invalid_lines(reader: FlopHoldemReader, line: str, says: str) -> None:
    with pytest.raises(InvalidText) as raised:
        reader.find(line)
    assert says in str(raised.value)


def test_a_form_from_the_deal_is_read_by_classes_before_the_flop(reader: FlopHoldemReader) -> None:
    """Unless its rules name every hand: a class plays as the first of its hands."""
    by_hand = reader.preflop()
    by_class = DealtFormReader(reader.form, reader.strategies).preflop()
    assert len(by_class) == 8 * len(CLASS_NAMES)
    for number, name in enumerate(CLASS_NAMES):
        first = hand_text(int(np.flatnonzero(number == HAND_CLASS)[0]))
        assert by_class[f"{name}:call, raise 200"] == by_hand[f"{first}:call, raise 200"]
