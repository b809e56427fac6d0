"""Calls in expressions: which function computes each, how it reads its arguments, and what its result is to others."""

__all__ = ["arguments", "bits_as_dates", "bytes_beside_text", "checks", "compared_casts", "evaluation", "registry",
           "results"]
