"""The live picture of a run: what it shows, how it is drawn, how fast it goes."""
