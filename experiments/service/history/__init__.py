"""What became of real jobs: the audit log, and what people and programs learn from it."""
