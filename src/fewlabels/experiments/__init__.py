"""Experiments: datasets, trials, figures. Reading, computing and drawing are separate calls."""
