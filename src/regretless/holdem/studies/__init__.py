"""Studies: one formation over many flops, solved spot by spot and kept as tables. In the order the data flows:

flops       which flops a study has, what each weighs, and what kind of flop it is
plan        the study file: a spot without a board, flops, a grid of parameters, what to keep
sizes       spots, memory, hours and bytes on disk, before anything is solved
rows        the tables, their columns, and from a solution to rows
manifest    what a folder says about its study
folder      the state of a study: one part per spot, each complete or absent
queries     SQL over the parts; the lines that the tables have
reports     grouped means
study       all of it behind `rl.Study`
"""
