"""`metasched maxutil`: how much of a multicluster can be used at all."""
