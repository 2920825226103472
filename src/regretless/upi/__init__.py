"""PioSOLVER's text protocol (UPI) on stdin and stdout, so that its viewers, scripts and clients can use this solver.

`serve` reads commands and writes answers. `tree_commands` and `node_commands` are tables of them, `table` what they
share, `session` what they change. `node_ids` names nodes as the protocol does, `formatting` writes numbers and nodes.
"""
