"""A study: one formation over a few flops, as a table. It needs `pip install '.[report]'`.

python examples/study.py
"""

import tempfile

import regretless as rl
from regretless.cluster import LocalExecutor, open_run, run_study
from regretless.holdem.studies.plan import StudyPlan
from regretless.holdem.studies.sizes import study_size

plan = StudyPlan.parse("""
flops = ["Ks 7d 2c", "Qs Jh 2h", "8s 8h 3c"]
pot = 60
stack = 60
target = 0.5
oop.range = "QQ, 88, AJs, KTs, 76s"
ip.range = "AA, TT, 99, AKs, QJs"
bets.flop.bet = "50%"
rules.add_allin = 0
""")


def main() -> None:
    """Solve the flops and print how often each is bet.

    Processes of their own solve them; where processes are spawned, they import this file, so its work is in a function.
    """
    with tempfile.TemporaryDirectory() as folder:
        size = study_size(plan)
        with open_run(folder, plan) as run:
            result = run_study(plan, run, LocalExecutor(size), size)
        print(f"{result.done} of {result.spots} flops are solved")
        report = rl.Study(folder).report("check", by="flop")
        for row in report.rows:
            bets = sum(share for action, share in row.frequencies.items() if action != "check")
            print(f"{row.group[0]}: {report.player} bets {bets:.0%}, EV {row.ip_ev:.1f} chips")


if __name__ == "__main__":
    main()
