"""The world: a multicluster's state, its clock, and the kernel that moves it."""
