"""What a study asks of Ray, without a cluster: resources of tasks, batches for GPUs, how lost tasks are reported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regretless.cluster.jobs import Ended, Lost, Slot, StudyJob
from regretless.cluster.local import GPU_SPOTS, PROCESS_BYTES
from regretless.cluster.on_ray import JOB_CONFIG, NO_TOKEN, QUEUED, WRONG_TOKEN, RayExecutor
from regretless.errors import InvalidOption

GIB = 2**30


class RayError(Exception):
    pass


class FakeRay:
    """Keeps what tasks ask for; a task's answer is set by the test."""

    def __init__(self, *nodes: dict[str, float]) -> None:
        self._nodes = list(nodes)
        self.asked: list[dict[str, Any]] = []
        self.answers: dict[int, Any] = {}
        self.cancelled: list[int] = []
        self.exceptions = SimpleNamespace(RayError=RayError)

    def init(self, *, runtime_env: dict[str, str], **options: Any) -> None:
        self.working_folder = runtime_env.get("working_dir")
        if self.working_folder is not None:
            assert not any(Path(self.working_folder).iterdir())

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": node} for node in self._nodes]

    def remote(self, function: Any) -> Any:
        def options(**resources: Any) -> Any:
            def submit(text: str) -> int:
                self.asked.append(resources)
                return len(self.asked) - 1

            return SimpleNamespace(remote=submit)

        return SimpleNamespace(options=options)

    def wait(self, references: list[int], *, num_returns: int, timeout: float) -> tuple[list[int], list[int]]:
        done = [each for each in references if each in self.answers][:num_returns]
        return done, [each for each in references if each not in done]

    def get(self, reference: int) -> Any:
        answer = self.answers[reference]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def cancel(self, reference: int, *, force: bool) -> None:
        self.cancelled.append(reference)

    def shutdown(self) -> None:
        pass


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    started: list[RayExecutor] = []

    def on(ray: FakeRay, *, probe: int = 0, **options: Any) -> RayExecutor:
        monkeypatch.setitem(sys.modules, "ray", ray)  # type: ignore[arg-type]
        answer = SimpleNamespace(returncode=probe)
        monkeypatch.setattr("regretless.cluster.on_ray.subprocess.run", lambda *words, **options: answer)
        started.append(RayExecutor("auto", **options))
        return started[-1]

    yield on
    for executor in started:
        executor.close()


def test_what_ray_prints_does_not_reach_stdout(start: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Ray prints there when a node is lost, from a thread of its own."""
    executor = start(FakeRay({"CPU": 2.0, "memory": 9.0 * GIB}))
    print("(raylet) The node is lost")
    executor.close()
    print("{}")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("{}\n", "(raylet) The node is lost\n")


def job(*spots: str, device: str = "cpu") -> StudyJob:
    return StudyJob(toml="", folder="", token="", spots=spots, device=device, threads=1, memory_bytes=3 * GIB)


MIXED = ({"CPU": 4, "GPU": 1, "memory": 8 * GIB}, {"CPU": 2, "memory": 16 * GIB})


def test_gpus_take_batches_and_the_other_cores_single_spots(start: Any) -> None:
    ray = FakeRay(*MIXED)
    executor = start(ray)
    slots = executor.free()
    assert slots.count(Slot("cuda", None, GPU_SPOTS)) == 1
    assert slots.count(Slot("cpu", 1, 1)) == QUEUED * 5  # one core serves the GPU
    assert executor.memory_limit() == 16 * GIB - PROCESS_BYTES
    executor.submit(slots[0], job("a", "b", device="cuda"))
    executor.submit(slots[1], job("c"))
    assert [each["num_gpus"] for each in ray.asked] == [1, 0]
    assert [each["memory"] for each in ray.asked] == [PROCESS_BYTES, PROCESS_BYTES + 3 * GIB]
    assert all(each["max_retries"] > 0 for each in ray.asked)
    assert len(executor.free()) == QUEUED * 5 - 1


def test_a_device_is_kept_to(start: Any) -> None:
    assert {slot.device for slot in start(FakeRay(*MIXED), device="cpu").free()} == {"cpu"}
    assert {slot.device for slot in start(FakeRay(*MIXED), device="cuda").free()} == {"cuda"}
    assert len(start(FakeRay(*MIXED), device="cpu", threads=3).free()) == QUEUED * 2
    with pytest.raises(InvalidOption, match="device: 'cuda' is on no node of the cluster"):
        start(FakeRay({"CPU": 4, "memory": GIB}), device="cuda")
    with pytest.raises(InvalidOption, match="threads: 0 must be at least 1"):
        start(FakeRay(*MIXED), threads=0)


def test_answers_and_losses_are_told_apart(start: Any) -> None:
    ray = FakeRay(*MIXED)
    executor = start(ray)
    slot = Slot("cpu", 1, 1)
    first, second, third = job("a"), job("b"), job("c")
    for each in (first, second, third):
        executor.submit(slot, each)
    ray.answers[0] = [('{"spot": "a", "error": null, "exit_code": 0, "hopeless": false}', {"runs/a.parquet": b"x"})]
    ray.answers[1] = RayError("the node died\nand much more")
    ended, over, lost = executor.wait(0.01)
    assert isinstance(ended, Ended)
    assert ended.outcome is not None
    assert (ended.job, ended.outcome.spot, ended.outcome.files) == (first, "a", {"runs/a.parquet": b"x"})
    assert over == Ended(first)
    assert lost == Lost(second, "RayError: the node died")
    executor.close()
    assert ray.cancelled == [2]


def test_workers_get_an_empty_working_folder_unless_the_job_has_one(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, Ray has them import modules of the driver's current folder."""
    start(ray := FakeRay(*MIXED))
    assert ray.working_folder is not None
    monkeypatch.setenv(JOB_CONFIG, '{"runtime_env": {"working_dir": "gcs://job.zip"}}')
    start(ray := FakeRay(*MIXED))
    assert ray.working_folder is None


@pytest.mark.parametrize(
    ("mode", "probe", "sentence"),
    [
        ("token", NO_TOKEN, "ray: 'auto' needs a token, as RAY_AUTH_MODE=token says, and none exists: the cluster's"),
        ("token", WRONG_TOKEN, "ray: 'auto' does not accept the token that was sent: the cluster's token belongs in"),
        ("", WRONG_TOKEN, "ray: 'auto' asks for a token: set RAY_AUTH_MODE=token; the cluster's token belongs in"),
    ],
)
def test_a_missing_or_wrong_token_is_named(
    start: Any, monkeypatch: pytest.MonkeyPatch, mode: str, probe: int, sentence: str
) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", mode)
    with pytest.raises(InvalidOption) as refused:
        start(FakeRay(*MIXED), probe=probe)
    assert str(refused.value).startswith(sentence)
