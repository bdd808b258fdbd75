"""Oracles: one Python function per operation that computes the right answer outside the guest."""
