import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from regretless.cards.hands import HAND_CLASS
from regretless.cards.range_reader import read_range
from regretless.cards.range_writer import write_range


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ("", ""),
        ("random", "100%"),
        ("any:0.5", "100%:0.5"),
        ("AA,KK,QQ", "QQ+"),
        ("77,66,55", "77-55"),
        ("A5s,A4s,A3s,A2s", "A5s-A2s"),
        ("76s,87s,98s,T9s,JTs,QJs,KQs,AKs", "76s+"),
        ("JTs,T9s,98s,87s", "JTs-87s"),
        ("J9s,T8s,97s", "J9s-97s"),
        ("AKs,AKo", "AK"),
        ("AKs:0.5,AKo:0.5", "AK:0.5"),
        ("AKs,AKo:0.5", "AKs,AKo:0.5"),
        ("A2s+,ATo+", "A2s+,AT+"),
        ("22+,A2s+,KTs+,QTs+,JTs,AJo+", "22+,A2s+,AJ+,KTs+,QTs+,JTs"),
        ("KQs,AKs,AQs,AJs,ATs", "ATs+,KQs"),
        ("AhKh,AsKs", "AsKs,AhKh"),
        ("AA,AhKh:0.5", "AA,AhKh:0.5"),
        ("AK:0.000001", "AK:0.000001"),
        ("22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32", "100%"),
    ],
)
def test_known_texts(text, shortest):
    assert write_range(read_range(text, "range")) == shortest


def plausible_cells(random):
    """Classes roughly from best to worst, down to some depth, with some noise."""
    rows, columns = np.divmod(np.arange(169), 13)
    worth = -(rows + columns) + 3.0 * (rows < columns) + 8.0 * (rows == columns)
    noise = random.normal(size=169) * random.choice([0.3, 1.0, 3.0])
    return np.argsort(-(worth + noise))[: random.integers(5, 165)]


def every_term():
    """Every text of one term, with the cells it covers: each class and each run, built without the writer's code."""
    ranks = "23456789TJQKA"
    singles = [high + low + end for high in ranks for low in ranks for end in ("", "s", "o")]
    names = [name for name in singles if ranks.index(name[0]) > ranks.index(name[1])]
    names += [rank * 2 for rank in ranks]
    texts = ["100%", *names, *(name + "+" for name in names)]
    for first in names:
        for second in names:
            same_ending = first[2:] == second[2:]
            gaps = [ranks.index(name[0]) - ranks.index(name[1]) for name in (first, second)]
            falls = ranks.index(first[0]) + ranks.index(first[1]) > ranks.index(second[0]) + ranks.index(second[1])
            joined = gaps[0] == gaps[1] or (first[0] == second[0] and 0 not in gaps)
            if same_ending and falls and joined:
                texts.append(f"{first}-{second}")
    return texts


@pytest.fixture(scope="module")
def terms():
    texts = every_term()
    cells = np.zeros((len(texts), 169), dtype=bool)
    for row, text in enumerate(texts):
        cells[row, HAND_CLASS[read_range(text, "range") > 0]] = True
    return texts, cells


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("suffix", ["", ":0.5"])
def test_no_text_is_shorter(terms, seed, suffix):
    texts, cells = terms
    wanted = np.isin(np.arange(169), plausible_cells(np.random.default_rng(seed)))
    written = write_range(np.where(wanted[HAND_CLASS], 0.5 if suffix else 1.0, 0.0))
    usable = np.flatnonzero(~(cells & ~wanted).any(axis=1))
    cost = np.array([len(texts[row]) + len(suffix) + 1 for row in usable])
    optimum = milp(
        cost,
        constraints=LinearConstraint(cells[usable][:, wanted].T.astype(float), 1, np.inf),
        bounds=Bounds(0, 1),
        integrality=np.ones(len(usable)),
    )
    assert len(written) + 1 == round(optimum.fun)
