"""Compares before-images with the rows that they find."""

__all__ = ["image_witness", "witness_kernel"]
