"""The parts of single-trip Scan inlining: what may be inlined, and how."""
