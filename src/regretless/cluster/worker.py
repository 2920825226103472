"""A process that solves jobs: `python -m regretless.cluster.worker`.

Jobs arrive on stdin as lines of JSON; a line of JSON on stdout says how each spot ended, and `{"job": "ended"}` that
the job did. When stdin closes, because the driver ended or was killed, the process ends at once: what it was solving
is not counted, and temporary files are removed.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import warnings
from typing import Any

from regretless.cluster.jobs import Job, Outcome
from regretless.cluster.work import solve_job
from regretless.errors import RegretlessError, RegretlessWarning
from regretless.storage.atomic import remove_temporary_files

__all__ = ["main"]


def main() -> None:
    """Solve jobs until stdin closes."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not mix with the answers
    warnings.simplefilter("ignore", RegretlessWarning)  # the driver has shown them
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(jobs,), daemon=True).start()

    def say(said: dict[str, Any]) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    while True:
        job = Job.from_json(json.loads(jobs.get()))
        ended: set[str] = set()

        def tell(outcome: Outcome, ended: set[str] = ended) -> None:
            ended.add(outcome.spot)
            said = {"spot": outcome.spot, "error": outcome.error, "exit_code": outcome.exit_code}
            say(said | {"hopeless": outcome.hopeless})

        try:
            solve_job(job, tell)
        except RegretlessError as error:  # of the whole job: no device, a folder that cannot be read
            for spot in job.spots:
                if spot not in ended:
                    tell(Outcome(spot, str(error), error.exit_code, hopeless=True))
        except MemoryError:
            for spot in job.spots:
                if spot not in ended:
                    tell(Outcome(spot, "not enough memory", 3))
        say({"job": "ended"})


def _listen(jobs: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        jobs.put(line)
    remove_temporary_files()
    os._exit(0)


if __name__ == "__main__":
    main()
