"""Calls of functions as jobs of a service, by the executor that Python has for such things."""
