"""The page: set up, solve, browse, lock and practise in a browser, and the API under it.

serve        a server on this machine   (connections: which of them stay open)
app          the application: guard, endpoints, the page's own files
guard        which requests are let in: Host, Origin, token, size
endpoint     one endpoint: what it takes, what it answers, how errors become JSON   (schema, openapi)
endpoints/   the endpoints by subject
answers/     solutions and spots as JSON
library      the files of the served folder   (studies: its studies)
solving/     solves as processes: queue, worker, what is kept across restarts
practice     hands played against a solution
static/      the page itself
"""
