"""General games on a CUDA device; `regretless.engines.cuda` says in which order to read the files."""
