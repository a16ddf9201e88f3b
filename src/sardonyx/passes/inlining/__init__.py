"""The parts of the inliner: which calls there are, what they would cost, how a function becomes nodes."""
