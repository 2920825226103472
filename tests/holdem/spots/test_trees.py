"""Trees to start from: what they are made of, and that every formation fits on every flop."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from regretless.cards.deck import DECK, board_text
from regretless.errors import InvalidOption
from regretless.holdem import Spot
from regretless.holdem.estimate import estimate_spot
from regretless.holdem.expected_time import expected_iterations, expected_seconds
from regretless.holdem.games.charts import chart_formations
from regretless.holdem.spots.formations import Formation, formations
from regretless.holdem.spots.spot_fields import STREETS
from regretless.holdem.spots.trees import TREE_LEVELS, preset_tree

FLOPS = 20
LARGEST = {"usual": 3e9, "small": 4e9}  # bytes
LONGEST = 60  # seconds to 0.5 % of the pot, on two cores of the machine that formations_usual.json describes
RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "formations_usual.json"

FORMATIONS = (*formations(), *chart_formations())
names = [each.key for each in FORMATIONS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("formation", FORMATIONS, ids=names)
def test_every_flop_of_a_formation_fits_in_memory_and_a_minute(formation: Formation) -> None:
    speed = json.loads(RESULTS.read_text(encoding="utf-8"))["speed"]
    drawing = random.Random(formation.key)
    for _ in range(FLOPS):
        board = board_text(drawing.sample(range(DECK), 3))
        spot = Spot.from_mapping(formation.fields() | {"board": board})
        size = estimate_spot(spot, threads=2)
        assert size.memory_bytes[32] < LARGEST[formation.tree], board
        assert expected_seconds(size.entries, expected_iterations(spot, 0.5), 2, speed) < LONGEST, board


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("formation", FORMATIONS, ids=names)
def test_a_finer_tree_is_larger_and_nobody_leads_into_the_bettor(formation: Formation) -> None:
    spots = [Spot.from_mapping(formation.fields(level) | {"board": "Ks 7d 2c"}) for level in TREE_LEVELS]
    entries = [estimate_spot(spot).entries for spot in spots]
    assert entries == sorted(set(entries))
    for spot in spots:
        for street in STREETS:
            assert spot.bets.of(street, "oop").donk == ()
            assert spot.bets.of_street(street).max_raises is not None
        assert (spot.bets.flop.oop.bet == ()) == (formation.raiser == "ip")


def test_depth_and_raiser_choose_the_sizes() -> None:
    def flop(stack: float, raiser: str | None) -> tuple[str, str]:
        bets = preset_tree("usual", pot=10, stack=stack, raiser=raiser)["bets"]["flop"]  # type: ignore[arg-type]
        return bets["oop"]["bet"], bets["ip"]["bet"]

    assert flop(80, "ip") == ("", "33%, 75%")
    assert flop(80, "oop") == ("33%", "50%")
    assert flop(80, None) == ("33%", "33%")
    assert flop(79, "ip") == ("", "33%, 75%")  # medium
    assert flop(79, "oop") == ("33%, 75%", "50%")
    assert flop(24, "oop") == ("20%, 40%, a", "20%, 40%, a")


def test_a_spot_names_its_tree_instead_of_bets() -> None:
    fields = {"board": "Ks 7d 2c", "pot": 10, "stack": 90, "oop": {"range": "QQ"}, "ip": {"range": "JJ"}}
    tree = preset_tree("small", pot=10, stack=90, raiser="ip")
    spot = Spot.from_mapping(fields | {"tree": "small", "raiser": "ip", "rules": {"rake": "5%", "merge": 0}})
    assert spot == Spot.from_mapping(
        fields | {"bets": tree["bets"], "rules": tree["rules"] | {"rake": 0.05, "merge": 0}, "raiser": "ip"}
    )
    assert Spot.parse(spot.to_toml()) == spot
    for wrong, message in (
        ({"tree": "huge"}, "tree: 'huge' is not one of small, usual, fine"),
        ({"tree": "small", "bets": {"bet": "50%"}}, "tree: 'small' is given beside"),
        ({"tree": "small", "raiser": "btn"}, "raiser: 'btn' is neither oop nor ip"),
    ):
        with pytest.raises(InvalidOption, match=message):
            Spot.from_mapping(fields | wrong)
