"""PACE: execution times predicted before jobs run (`muscle`, section 2)."""
