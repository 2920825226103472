"""Games as arrays: the history form of any game, the sequence form of any two-player game."""

from regretless.forms.compile import compile_history, invert, last_pairs, strategy_array, uniform_array
from regretless.forms.history import TERMINAL, FloatArray, HistoryForm, IntArray, Strategy
from regretless.forms.matrices import Matrices, matrices
from regretless.forms.memory import available_bytes, memory_bytes
from regretless.forms.sequence import (
    SequenceForm,
    SequenceTree,
    SparseMatrix,
    compile_sequence,
    sequence_tree,
    terminal_reach,
    terminal_sequences,
)

__all__ = [
    "TERMINAL", "FloatArray", "HistoryForm", "IntArray", "Matrices", "SequenceForm", "SequenceTree", "SparseMatrix",
    "Strategy", "available_bytes", "compile_history", "compile_sequence", "invert", "last_pairs", "matrices",
    "memory_bytes", "sequence_tree", "strategy_array", "terminal_reach", "terminal_sequences", "uniform_array",
]  # fmt: skip
