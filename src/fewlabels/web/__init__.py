"""The labelling page: HTTP around a session. No maths and no state of its own."""
