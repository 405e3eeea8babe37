"""Many runs: carried out, kept, summed up, drawn and judged."""
