"""The table of what can be solved: every row leads to its classes, and every file to its row."""

from __future__ import annotations

from dataclasses import fields

import pytest

from regretless.solving.kinds import KINDS, Kind, file_words, of_file, of_solution
from regretless.solving.options import RULES, SolveKeywords, SolveOptions
from regretless.solving.problem import Problem
from regretless.solving.solution import Solution


@pytest.mark.parametrize("name", KINDS)
def test_a_row_leads_to_its_problem_and_its_solution(name: str) -> None:
    row = KINDS[name]
    assert issubclass(row.problem_class, Problem)
    assert issubclass(row.solution_class, Solution)
    if row.options is not Kind.EXACT:  # the linear program: a variant of a problem of games
        assert row.problem_class.kind is row.options
    assert row.problem_class.solution_type is row.solution_class
    if row.files:
        assert of_solution(row.solution_class) is row


def test_a_file_leads_to_one_row() -> None:
    kinds = [kind for row in KINDS.values() for kind in row.files]
    assert len(set(kinds)) == len(kinds)
    for name, row in KINDS.items():
        for kind, words in row.files.items():
            assert of_file(kind) is row, name
            assert file_words(kind) == words
    assert of_file("buckets") is None


def test_the_keywords_are_the_fields_of_the_record() -> None:
    of_record = {each.name: each.type for each in fields(SolveOptions) if each.name != "keep_regrets"}
    of_python = {name: annotation.__forward_arg__ for name, annotation in SolveKeywords.__annotations__.items()}
    assert of_python == of_record
    assert set(RULES) == {*of_record, "keep_regrets"}
