"""Hold'em for Deep CFR: card and bet features, batches of deals, and exact exploitability of a trained policy."""
