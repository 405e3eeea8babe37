"""What sites of real jobs are: drivers of this machine, of Slurm and of other batch systems."""
