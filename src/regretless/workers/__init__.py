"""Work in processes of its own, supervised: started, followed, stopped, and its end explained.

supervision   both ends of the pipe between a supervisor and its worker
solve         a worker that solves one spot or game and saves it as it goes
"""
