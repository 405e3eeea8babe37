"""What happens to a job in the kernel: it arrives, lands, runs, ends, or is given back."""
