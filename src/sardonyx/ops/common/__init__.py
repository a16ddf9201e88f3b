"""What several rules share: broadcasting, axes, windows, elements."""
