"""PioSOLVER's text protocol (UPI) on stdin and stdout, so that its viewers, scripts and clients can use this solver.

`serve` reads commands and writes answers, `commands` has a table of them, `session` holds what they change, `node_ids`
names nodes as the protocol does, and `answers` writes numbers and nodes as text.
"""
