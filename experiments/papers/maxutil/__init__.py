"""What the paper `maxutil` prints."""
