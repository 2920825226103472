"""Deep CFR: regrets and average strategies in neural networks instead of tables (Brown et al., 2019).

settings           how long and how large: `TrainingSettings` and the presets; loads without PyTorch
worlds/            games as batches of states
networks/          encoders of observations, and the network for advantages and policies
memories           samples, by reservoir sampling
traversal          batched external sampling; `reference_traversal` is the plain one
fitting            a network, fitted to a memory
deep_cfr           the algorithm: traverse, fit, repeat
policies, exact    what was learned, and how exploitable it is, exactly
"""
