import os
import subprocess
import sys


def test_reading_ranges_does_not_load_numba():
    code = (
        "import sys; from regretless.cards import Range, parse_board, flop_index; "
        "print(Range.parse('76s+').combos, flop_index(parse_board('QsJh2h')), 'numba' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert run.stdout.split()[::2] == ["32.0", "False"]
