"""The graph: values, nodes, types, tensors. Knows nothing of files."""
