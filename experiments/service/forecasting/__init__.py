"""What will become of real jobs: futures that are drawn, and how well that would have held."""
