"""The information sets of a solved game."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from tests.page.serving import API


def test_information_sets_are_found_by_name(reading: TestClient) -> None:
    table = reading.get(f"{API}/game", params={"file": "leduc.rgl", "find": "Ks:", "most": 3}).json()
    assert table["information_sets"] == 936
    assert 3 == len(table["sets"]) < table["found"] < 936
    assert all("Ks:" in each["key"] and sum(each["probabilities"]) == pytest.approx(1) for each in table["sets"])
