"""Files: bytes to plain data and back. Nothing here knows what a graph or a learner is."""
