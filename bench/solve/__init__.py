"""Solving beside CP-SAT on the whole problem, and clingo."""
