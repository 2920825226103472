"""Spots that several tests of the command solve."""

SMALL = """
board = "Kh Qs Js 2c 3d"
pot = 100
stack = 200
[oop]
range = "AK, QJs, T9s, 99, 22"
[ip]
range = "AA, AK, KQ, JTs, 55"
[bets]
bet = "100%"
"""
RIVER = """
board = "Kh Qs Js 2c 3d"
pot = 100
stack = 200
[oop]
range = "AK, KQs, QJs, T9s, 99-77, 22"
[ip]
range = "AA-QQ, AK, KQ, JTs, T9s, 55"
[bets]
bet = "50%, 100%"
raise = "2.5x"
"""
