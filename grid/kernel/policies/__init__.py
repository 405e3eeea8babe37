"""What compiled policies read, and what they answer."""
