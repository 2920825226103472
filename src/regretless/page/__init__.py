"""The page: set up, solve, browse, lock and practise in a browser, and the API under it.

serve      a server on this machine
app        the application: guard, endpoints and their description, the page's own files
guard      which requests are let in: Host, Origin, token, size
endpoint   how a function becomes an endpoint, and errors become JSON
schema     JSON schemas, and the check of requests against them
library    the files of the served folder
queue      solves that wait or run, each in a process of its own
jobs       one solve, as it is shown and as it is kept on disk
static/    the page itself

The endpoints, by subject: setup, spots, files, solves, nodes, comparing, locks, games, studies, practice, play.
"""
