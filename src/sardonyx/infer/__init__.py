"""Infer types, shapes and contents through a whole model."""
