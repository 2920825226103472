"""Jobs as tasks of a Ray cluster.

A task asks for the cores, GPUs and memory that its spots need, so Ray places it where they are free, and starts it
again if its worker or node is lost (`max_retries`). On a cluster with GPUs, batches of spots go to the GPUs and single
spots to the cores that are left, from one queue: each takes the next spots when it is free.

Workers import only what is installed on their node. By default Ray puts the driver's current folder first on their
path, where a file `pyarrow.py` would be imported; with a working folder of our own, which is empty, it does not.

Ray prints on stdout when a node is lost, from a thread of its own, which would spoil what a command prints there. So
stdout is stderr as long as the cluster is in use.

Where nodes share the folder of the study, tasks write parts there, and a driver that dies loses nothing. Otherwise a
task returns the files of its spots through Ray's object store, and the driver writes them.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from typing import Any

from regretless.cluster.jobs import Ended, Lost, Slot, SpotOutcome, StudyJob, solve_job
from regretless.cluster.local import GPU_SPOTS, PROCESS_BYTES
from regretless.errors import InvalidOption, MissingExtra, RegretlessError

__all__ = ["RayExecutor", "connect"]

RETRIES = 3  # by Ray, of a task whose worker or node is lost
QUEUED = 2  # tasks submitted per core, so that none waits for the driver
CONNECT_SECONDS = 10.0
REFRESH_SECONDS = 2.0  # between looks at the cluster, which may grow
JOB_CONFIG = "RAY_JOB_CONFIG_JSON_ENV_VAR"  # set by Ray in a job that `ray job submit` started
NO_TOKEN, WRONG_TOKEN = 10, 11  # exit codes of the probe
WHERE_TOKEN = "the cluster's token belongs in ~/.ray/auth_token or RAY_AUTH_TOKEN"

# Asks the head for its name. Ray itself would try for 20 seconds and print a warning each second, and ends a process
# that has no token; so this is a process of its own. Without these modules, Ray is too old to have tokens.
_PROBE = f"""
import sys
from ray._private.authentication.authentication_token_setup import ensure_token_if_auth_enabled
from ray._private.services import canonicalize_bootstrap_address
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    ensure_token_if_auth_enabled(create_token_if_missing=False)
except AuthenticationError:
    sys.exit({NO_TOKEN})
try:
    GcsClient(address=canonicalize_bootstrap_address(sys.argv[1]))
except AuthenticationError:
    sys.exit({WRONG_TOKEN})
"""


def _task(text: str) -> list[tuple[str, dict[str, bytes]]]:
    """Solve a job given as JSON; for each spot, how it ended as JSON, and its files."""
    job = StudyJob.from_json(json.loads(text))
    outcomes: list[SpotOutcome] = []
    try:
        solve_job(job, outcomes.append)
    except RegretlessError as error:
        outcomes += job.failed(error, {outcome.spot for outcome in outcomes})
    return [(json.dumps(each.as_json()), dict(each.files)) for each in outcomes]


def connect(address: str) -> tuple[Any, ExitStack]:
    """Ray itself, connected to a running cluster, and what undoes the redirection of stdout."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "cluster") from None
    _check_reachable(address)
    _check_token(address)
    redirected = ExitStack()
    redirected.enter_context(redirect_stdout(sys.stderr))
    try:
        with tempfile.TemporaryDirectory(prefix="regretless-empty-") as empty:
            # A job that was submitted with a working folder keeps it: Ray refuses a second one.
            environment = {} if '"working_dir"' in os.environ.get(JOB_CONFIG, "") else {"working_dir": empty}
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError, ray.exceptions.RayError) as error:
        redirected.close()
        raise _no_cluster(address, _first_line(error)) from None
    return ray, redirected


class RayExecutor:
    """Tasks of a running Ray cluster; `address` is "auto" or that of its head, "10.0.0.1:6379"."""

    def __init__(self, address: str, *, device: str = "auto", threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise InvalidOption("threads", threads, "must be at least 1")
        self._ray, self._redirected = connect(address)
        self._remote = self._ray.remote(_task)
        self.device, self._requested_threads = device, threads or 1
        self._jobs: dict[Any, tuple[Slot, StudyJob]] = {}
        self._refreshed = -REFRESH_SECONDS
        self._refresh()
        if device == "cuda" and not self._gpus:
            self.close()
            raise InvalidOption("device", device, f"is on no node of the cluster {address}")

    @property
    def workers(self) -> int:
        """Jobs that run at a time."""
        return self._gpus + self._cores // self.threads

    def _refresh(self) -> None:
        """Ask the cluster for its cores, GPUs and memory, but not too often."""
        if time.monotonic() - self._refreshed < REFRESH_SECONDS:
            return
        self._refreshed = time.monotonic()
        alive = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        self._gpus = 0 if self.device == "cpu" else int(sum(node.get("GPU", 0) for node in alive))
        self._cores = 0 if self.device == "cuda" else int(sum(node.get("CPU", 0) for node in alive)) - self._gpus
        largest = int(max((node.get("CPU", 0) for node in alive), default=0))
        self.threads = max(1, min(self._requested_threads, largest))  # a task runs on one node
        self._memory = int(max((node.get("memory", 0) for node in alive), default=0))

    def memory_limit(self) -> int:
        return max(self._memory - PROCESS_BYTES, 0)

    def free(self) -> Sequence[Slot]:
        self._refresh()
        busy = [slot.device for slot, _ in self._jobs.values()]
        gpus = self._gpus - busy.count("cuda")
        cores = QUEUED * (self._cores // self.threads) - busy.count("cpu")
        return [Slot("cuda", None, GPU_SPOTS)] * gpus + [Slot("cpu", self.threads, 1)] * cores

    def submit(self, slot: Slot, job: StudyJob) -> None:
        on_gpu = slot.device == "cuda"
        reference = self._remote.options(
            num_cpus=1 if on_gpu else self.threads,
            num_gpus=1 if on_gpu else 0,
            memory=PROCESS_BYTES + (0 if on_gpu else job.memory_bytes),
            max_retries=RETRIES,
        ).remote(json.dumps(job.as_json()))
        self._jobs[reference] = slot, job

    def wait(self, seconds: float) -> list[Ended | Lost]:
        if not self._jobs:
            time.sleep(seconds)
            return []
        ended, _ = self._ray.wait(list(self._jobs), num_returns=1, timeout=seconds)
        more, _ = self._ray.wait(list(self._jobs), num_returns=len(self._jobs), timeout=0)
        events: list[Ended | Lost] = []
        for reference in dict.fromkeys([*ended, *more]):
            _, job = self._jobs.pop(reference)
            try:
                outcomes = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                events.append(Lost(job, f"{type(error).__name__}: {_first_line(error)}"))
                continue
            events += [Ended(job, SpotOutcome(**json.loads(outcome), files=files)) for outcome, files in outcomes]
            events.append(Ended(job))
        return events

    def close(self) -> None:
        for reference in self._jobs:
            self._ray.cancel(reference, force=True)
        self._jobs = {}
        self._ray.shutdown()
        self._redirected.close()


def _check_reachable(address: str) -> None:
    """Refuse an address at which nothing listens: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "://" in address or not port.isdecimal():  # "auto", or a client's address
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, _first_line(error)) from None


def _check_token(address: str) -> None:
    """Refuse a cluster that refuses us: a missing or wrong token is named as such."""
    if "://" in address:
        return
    code = None
    with suppress(subprocess.TimeoutExpired):  # not a cluster: `ray.init` says so
        code = subprocess.run(
            (sys.executable, "-P", "-c", _PROBE, address), capture_output=True, timeout=CONNECT_SECONDS
        ).returncode
    has_mode = os.environ.get("RAY_AUTH_MODE", "").lower() == "token"
    if code == NO_TOKEN:
        raise InvalidOption(
            "ray", address, f"needs a token, as RAY_AUTH_MODE=token says, and none exists: {WHERE_TOKEN}"
        )
    if code == WRONG_TOKEN and has_mode:
        raise InvalidOption("ray", address, f"does not accept the token that was sent: {WHERE_TOKEN}")
    if code == WRONG_TOKEN:
        raise InvalidOption("ray", address, f"asks for a token: set RAY_AUTH_MODE=token; {WHERE_TOKEN}")


def _no_cluster(address: str, why: str) -> InvalidOption:
    return InvalidOption("ray", address, f"is not a running cluster: ray start --head ({why})")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
