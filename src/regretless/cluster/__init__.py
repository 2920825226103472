"""Many solves on many processes or machines: a study's spots, handed out one by one or in batches.

jobs      what is handed out, how it is solved, and what comes back
worker    a process that solves jobs
local     processes of this machine
on_ray    tasks of a Ray cluster
run       a whole study: what is left to do, retries, progress

And one solve on many machines:

shards_on_ray    the shards of a game from the deal, as actors of a Ray cluster
"""

from regretless.cluster.local import LocalExecutor
from regretless.cluster.on_ray import RayExecutor
from regretless.cluster.run import RunFolder, StudyProgress, StudyRun, open_run, run_study

__all__ = ["LocalExecutor", "RayExecutor", "RunFolder", "StudyProgress", "StudyRun", "open_run", "run_study"]
