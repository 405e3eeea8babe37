"""The optimum: an instance answered or replayed, and how far rounds of a run were from theirs."""
