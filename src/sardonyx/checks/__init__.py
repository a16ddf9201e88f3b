"""Find what is wrong with a model's operators, its sparse constants and its types."""
