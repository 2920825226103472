"""`regretless upi`: PioSOLVER's text protocol on stdin and stdout."""

from __future__ import annotations

import sys

__all__ = ["upi"]


def upi() -> None:
    """Answer PioSOLVER's text protocol (UPI) on stdin and stdout, for viewers, scripts and clients made for it.

    `exit` or the end of the input ends it.

    \b
    [cyan]regretless upi[/cyan]
    [cyan]regretless upi < script.txt[/cyan]
    """
    from regretless.upi.serve import serve

    serve(sys.stdin, sys.stdout)
