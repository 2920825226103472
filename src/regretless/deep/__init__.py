"""Deep CFR: regrets and average strategies in neural networks instead of tables (Brown et al., 2019).

settings               how long and how large: `TrainingSettings` and the presets; loads without PyTorch
worlds                 games as batches of states
networks               encoders of observations, and the network for advantages and policies
memories               samples, by reservoir sampling
traversal              batched external sampling, and the plain one that it must equal
fitting                a network, fitted to a memory
deep_cfr               the algorithm: traverse, fit, repeat
policies               what was learned, and how exploitable it is, exactly
holdem_*               the same for limit hold'em: its cards, its world, its evaluation
training               from options to a problem of the solving loop (`problem`, `flop_holdem`) and its `engine`
trained_policy         what a training returns, and its file
tensorboard            losses and exploitability for TensorBoard
"""
