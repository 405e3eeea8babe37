"""How much of a multicluster can be used at all: exact and approximate formulas (`maxutil`)."""
