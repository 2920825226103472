"""What the larger answers look like, for the OpenAPI description; the tests check answers against it."""

from __future__ import annotations

from regretless.page.schema import Schema, anything, array, boolean, integer, nullable, number, obj, text

__all__ = ["ACTION", "CARDS", "CHECKED", "COMPARISON", "FILE_SUMMARY", "GAME", "NODE", "PRACTICE", "SOLVE"]

_NUMBER = nullable(number())
_TEXT = nullable(text())
_PLAYER = nullable(text(enum=["oop", "ip"]))
_CHIPS = obj({"oop": number(), "ip": number()}, "chips of each player")
_PAIR = obj({"oop": _NUMBER, "ip": _NUMBER})
_BEFORE_AFTER = array(_NUMBER, "of the first and the second solution")
_CURVE = array(array(number()), "iteration, seconds, exploitability")
_COLUMN = array(_NUMBER)

ACTION = obj(
    {
        "name": text("as in a line: bet 40"),
        "kind": text(enum=["fold", "check", "call", "bet", "raise", "all-in"]),
        "amount": nullable(number("the player's total on this street")),
        "pot_share": nullable(number("chips beyond the call / pot after the call")),
        "frequency": nullable(number("over the whole range, 0 to 1")),
        "ev": nullable(number("chips, of the hands that take the action")),
        "combos": _NUMBER,
        "next": text("the line that continues with it"),
    }
)
_TILE = obj(
    {"kind": text(enum=["street", "decision", "end"]), "line": text(), "pot": number(), "actions": array(ACTION)},
    "a street with its cards, a decision with its actions, or the end of the hand",
    required=("kind", "line", "pot"),
    open_=True,
)
_GROUP = obj(
    {
        "key": text("of /meta's made or draws"),
        "combos": number(),
        "share": nullable(number("of the range, 0 to 1")),
        "mix": nullable(array(_NUMBER, "frequency of each action; null for the player who does not act")),
        "ev": _NUMBER,
        "equity": _NUMBER,
    }
)
_HANDS = obj(
    {
        "hand": array(integer("number among the 1,326, as in /meta's hands")),
        "weight": _COLUMN,
        "matchups": _COLUMN,
        "ev": _COLUMN,
        "equity": _COLUMN,
        "eqr": _COLUMN,
        "made": array(integer("position in /meta's made")),
        "draw": array(integer("position in /meta's draws")),
    },
    "columns over the hands that the board does not block; means weigh a hand by weight × matchups",
)
_SEAT = obj(
    {
        "ev": _NUMBER,
        "equity": _NUMBER,
        "eqr": _NUMBER,
        "combos": number(),
        "stack": number(),
        "last": nullable(text("the last action")),
        "hands": _HANDS,
        "distribution": nullable(obj({"equity": _COLUMN, "ev": _COLUMN}, "from the weakest hand to the strongest")),
        "made": array(_GROUP),
        "draws": array(_GROUP),
    }
)
NODE = obj(
    {
        "file": text(),
        "revision": text("changes whenever the file does"),
        "line": text(),
        "board": array(text()),
        "street": text(enum=["flop", "turn", "river"]),
        "kind": text(enum=["decision", "chance", "fold", "showdown"]),
        "player": _PLAYER,
        "pot": number(),
        "stacks": _CHIPS,
        "to_call": number(),
        "reached": nullable(number("how likely the line's actions are, given that its cards come")),
        "parent": nullable(text("the line without its last step")),
        "strip": array(_TILE, "the way from the root to here"),
        "actions": array(ACTION),
        "players": obj({"oop": _SEAT, "ip": _SEAT}),
        "strategy": array(_COLUMN, "probability of each action for each hand of the acting player"),
        "action_ev": array(_COLUMN, "EV of each action for each hand of the acting player"),
        "locked": nullable(array(boolean(), "of each hand of the acting player; null if nothing is locked here")),
        "locks": array(integer("position in the file's locks")),
    }
)
CARDS = obj(
    {
        "line": text(),
        "street": text(),
        "then": text(),
        "cards": array(
            obj(
                {
                    "card": text(),
                    "next": text(),
                    "player": _PLAYER,
                    "actions": array(text()),
                    "frequencies": array(_NUMBER),
                    "reached": _NUMBER,
                    "ev": _PAIR,
                    "equity": _PAIR,
                    "eqr": _PAIR,
                }
            )
        ),
    }
)
SOLVE = obj(
    {
        "id": text(),
        "name": text(),
        "what": text(enum=["spot", "game"]),
        "file": text("where the solution is saved"),
        "state": text(enum=["queued", "starting", "running", "stopping", "stopped", "done", "failed"]),
        "place": nullable(integer("in the queue")),
        "pid": nullable(integer("of its process")),
        "message": nullable(text("one sentence: what it does or waits for, or why it failed")),
        "created": number("seconds since 1970"),
        "started": _NUMBER,
        "ended": _NUMBER,
        "board": _TEXT,
        "pot": _NUMBER,
        "stack": _NUMBER,
        "locks": integer(),
        "again": nullable(text("the file whose spot is solved again")),
        "target": _NUMBER,
        "iterations": nullable(integer("at which it ends at the latest")),
        "device": text(),
        "threads": nullable(integer()),
        "storage": nullable(integer()),
        "unit": text("of exploitability and target"),
        "memory_bytes": integer(),
        "iteration": integer(),
        "seconds": number(),
        "exploitability": _NUMBER,
        "seconds_left": _NUMBER,
        "share": number("of the way, 0 to 1"),
        "readable": boolean("whether its file can be browsed"),
        "resumable": boolean(),
        "revision": _TEXT,
        "curve": _CURVE,
    },
    required=("id", "state", "file"),
)
PRACTICE = obj(
    {
        "id": text(),
        "file": text(),
        "hand_number": integer(),
        "player": text(enum=["oop", "ip"]),
        "hand": text(),
        "hole": array(text()),
        "board": array(text()),
        "line": text(),
        "pot": number(),
        "stacks": _CHIPS,
        "to_call": number(),
        "strip": array(_TILE, "without frequencies"),
        "actions": array(ACTION, "empty when the hand is over"),
        "over": boolean(),
        "outcome": nullable(
            obj({"end": text(), "opponent": nullable(array(text())), "won": number("chips"), "text": text()})
        ),
        "feedback": nullable(
            obj(
                {
                    "line": text(),
                    "hand": text(),
                    "chosen": text(),
                    "best": _TEXT,
                    "ev": obj({}, "chips by action", open_=True),
                    "strategy": obj({}, "probability by action", open_=True),
                    "lost": number("chips"),
                    "lost_pct_pot": number(),
                    "grade": text(enum=["best", "fine", "inaccuracy", "mistake", "blunder"]),
                },
                "about the last decision",
            )
        ),
        "score": obj(
            {
                "hands": integer(),
                "decisions": integer(),
                "lost": number(),
                "lost_per_decision": number(),
                "lost_pct_pot": number("per decision"),
                "best": integer(),
                "grades": obj({}, open_=True),
            }
        ),
    }
)
FILE_SUMMARY = obj(
    {
        "file": text(),
        "kind": text(enum=["spot", "game", "flop-holdem", "holdem-game", "checkpoint", "toml", "other", "unreadable"]),
        "name": text(),
        "bytes": integer(),
        "modified": number("seconds since 1970"),
        "revision": text(),
        "board": _TEXT,
        "pot": _NUMBER,
        "stack": _NUMBER,
        "exploitability": _NUMBER,
        "unit": _TEXT,
        "iterations": nullable(integer()),
        "locks": anything("how many; of one file, the locks themselves"),
        "resumable": boolean(),
        "note": nullable(text("why it cannot be shown")),
        "solve": nullable(text("the solve that writes it")),
    },
    open_=True,
)
CHECKED = obj(
    {
        "valid": boolean(),
        "errors": array(obj({"field": text(), "message": text("without the field"), "position": nullable(integer())})),
        "warnings": array(text()),
        "toml": _TEXT,
        "estimate": nullable(
            obj(
                {
                    "nodes": integer(),
                    "betting_nodes": integer(),
                    "runouts": array(integer()),
                    "hands": obj({"oop": integer(), "ip": integer()}),
                    "entries": integer("actions × hands over all decisions"),
                    "memory_bytes": obj({"32": integer(), "16": integer()}, "by bits of storage"),
                    "fits": obj({"32": boolean(), "16": boolean()}),
                    "available_bytes": integer(),
                    "iterations": integer("expected"),
                    "seconds": number("expected, roughly"),
                    "file_bytes": obj(
                        {"32": integer(), "16": integer()}, "by bits of storage; the file can be resumed"
                    ),
                    "note": _TEXT,
                }
            )
        ),
    }
)
COMPARISON = obj(
    {
        "changed": array(text("field of the spot")),
        "ev": obj({"oop": _BEFORE_AFTER, "ip": _BEFORE_AFTER}),
        "equity": obj({"oop": _BEFORE_AFTER, "ip": _BEFORE_AFTER}),
        "exploitability_pct_pot": _BEFORE_AFTER,
        "nodes": array(
            obj(
                {
                    "line": text(),
                    "player": text(),
                    "deals": integer("equivalent deals counted here"),
                    "reached": _BEFORE_AFTER,
                    "moved": number("share of play that differs, 0 to 1"),
                    "frequencies": obj({}, "before and after by action", open_=True),
                    "ev": obj({"oop": _BEFORE_AFTER, "ip": _BEFORE_AFTER}),
                }
            )
        ),
        "visited": integer("decisions compared"),
        "complete": boolean(
            "whether the nodes listed are those that differ most; the search is cut short if it is long"
        ),
        "only_first": array(text()),
        "only_second": array(text()),
    }
)
GAME: Schema = obj(
    {
        "file": text(),
        "revision": text(),
        "game": text(),
        "variant": text(),
        "iterations": integer(),
        "exploitability": number(),
        "nash_conv": number(),
        "values": array(number()),
        "unit": text(),
        "seconds": number(),
        "information_sets": integer("of the whole game"),
        "found": integer("whose names contain the text"),
        "offset": integer(),
        "actions": array(text()),
        "sets": array(
            obj(
                {
                    "key": text(),
                    "private": _TEXT,
                    "history": text(),
                    "actions": array(text()),
                    "probabilities": array(number()),
                }
            )
        ),
        "curve": _CURVE,
    }
)
