from __future__ import annotations

import pytest

from regretless.errors import RegretlessError
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import study_size

FIELDS = """
flops = ["QsJh2h", "As7h2d"]
pot = 60
stack = 100
oop.range = "QQ, AK"
ip.range = "JJ, KQ"
bets.bet = "50%"
"""


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("flps = 'all'", "flps: is not a field of a study; did you mean flops?"),
        ("board = 'Qs Jh 2h'", "board: is not a field of a study, which has flops"),
        ("target = -1", "target: -1 must be above 0"),
        ("target = inf", "target: inf must be a number"),
        ("iterations = 0", "iterations: 0 must be at least 1"),
        ("storage = 8", "storage: 8 is not one of 32, 16 bits"),
        ("storage = 32.0", "storage: 32.0 is not one of 32, 16 bits"),
        ("device = 'tpu'", "device: 'tpu' is not one of auto, cpu, cuda"),
        ("variant = 'foo'", "variant: 'foo' is not one of vanilla, "),
        ("keep = 1", "keep: 1 must be a table: [keep]"),
        ("keep.foo = 1", "keep.foo: is not a field of [keep]"),
        ("keep.hands = 1", "keep.hands: 1 must be true or false"),
        ("keep.lines = 'turn'", "keep.lines: 'turn' must be \"flop\", a number from 0 to 100, or a list of lines"),
        ("keep.lines = ['check, bet 31']", "keep.lines[0]: 'check, bet 31' at position 8: no 'bet 31' here"),
        ("keep.lines = ['any']", "keep.lines[0]: 'any' has 'any' where no card is dealt"),
        ("keep.lines = ['check, check, check']", "needs a card before 'check'; 'any' means every card"),
        ("keep.lines = ['check, check']", "keep.lines[0]: 'check, check' ends where nobody acts"),
        ("vary.stack = 5", "vary.stack: 5 must be a list of numbers or texts"),
        ("vary.stack = [5, 5]", "vary.stack: [5, 5] repeats a value"),
        ("vary.stack = [50, -3]", "stack: -3 must be above 0"),
        ("vary.name = ['a']", "vary.name: ['a'] cannot vary"),
        ("vary.rules.rak = [1]", "rules.rak: is not a field of [rules]; did you mean rake?"),
        ("locks = [{source = 'x.rgl', player = 'oop'}]", "is a solution of one board, and a study has many"),
    ],
)  # fmt: skip
def test_mistakes_are_named(more: str, sentence: str) -> None:
    with pytest.raises(RegretlessError) as caught:
        StudyPlan.parse(more + FIELDS)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"QQ, AK"', '""', "oop.range: '' is empty"),
        ('"QQ, AK"', '"AKx"', "oop.range: 'AKx' at position 3"),
        ("pot = 60", "pot = 0", "pot: 0 must be above 0"),
        ("pot = 60", "", "pot: is missing"),
        ('"50%"', '"0.5"', "bets.bet: "),
        ('"QQ, AK"', '"QsJh"', "ip.range"),
    ],
)
def test_fields_of_the_spot_are_checked_as_in_spot_files(old: str, new: str, sentence: str) -> None:
    text = FIELDS.replace(old, new)
    if new == '"QsJh"':  # possible on As7h2d only
        assert [spot.id for spot in StudyPlan.parse(text).spots] == ["As7h2d"]
        return
    with pytest.raises(RegretlessError) as caught:
        StudyPlan.parse(text)
    assert sentence in str(caught.value)


def test_every_combination_of_varied_values_is_solved() -> None:
    plan = StudyPlan.parse(
        "vary.stack = [100, 200]\nvary.rules.rake = [0, 0.05]\nvary.bets.flop.bet = ['33%']" + FIELDS
    )
    assert len(plan.spots) == 2 * 4
    spot = plan.spots[3]
    assert (spot.id, spot.spot.stack, spot.spot.rules.rake) == ("QsJh2h-4", 200, 0.05)
    assert plan.varied == ("stack", "rules.rake", "bets.flop.bet")


def test_flops_that_cannot_be_dealt_are_left_out() -> None:
    plan = StudyPlan.parse(FIELDS.replace('["QsJh2h", "As7h2d"]', '["QsQhQd", "As7h2d"]').replace("QQ, AK", "QQ"))
    assert ([spot.id for spot in plan.spots], plan.impossible) == (["As7h2d"], 1)


def test_the_digest_covers_what_answers_depend_on() -> None:
    base = StudyPlan.parse(FIELDS).digest
    same = ["name = 'x'", "device = 'cpu'", "target = 0.3"]
    other = ["target = 0.5", "keep.hands = true", "storage = 16", "variant = 'plus'", "vary.stack = [100]"]
    assert [StudyPlan.parse(more + FIELDS).digest == base for more in same] == [True] * len(same)
    assert [StudyPlan.parse(more + FIELDS).digest == base for more in other] == [False] * len(other)
    assert StudyPlan.parse(FIELDS.replace('["QsJh2h", "As7h2d"]', '"trips"')).digest == base


def test_sizes_grow_with_what_is_kept() -> None:
    plain, hands, whole = (
        study_size(StudyPlan.parse(more + FIELDS)) for more in ("", "keep.hands = true", "keep.solutions = true")
    )
    assert (plain.spots, plain.lines) == (2, 6)
    assert plain.disk_bytes < hands.disk_bytes < whole.disk_bytes
    assert plain.memory_bytes == max(plain.needs.values())
    predicting = study_size(StudyPlan.parse('variant = "predictive-plus"' + FIELDS))
    assert all(predicting.needs[spot] > needed for spot, needed in plain.needs.items())
