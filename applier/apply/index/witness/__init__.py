"""Before-images compared with the rows that are found."""

__all__ = ["image_witness", "witness_kernel"]
