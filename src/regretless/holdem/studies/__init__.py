"""Studies: one formation over many flops, solved spot by spot and kept as tables. In the order the data flows:

textures    what kind of flop it is
flops       which flops a study has, and what each weighs   (subsets: few flops that stand for all)
plan        the study file: a spot without a board, flops, a grid of parameters, what to keep
sizes       spots, memory, hours and bytes on disk, before anything is solved
schema      the tables and their columns
rows        from a solution to rows
folder      the state of a study: one part per spot, each complete or absent
tables      SQL over the parts
reports     grouped means
lines       the lines that the tables have, with the mix of actions at each
study       all of it behind `rl.Study`
"""
