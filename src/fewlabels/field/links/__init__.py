"""Covariances of fields on links: one for each place where it can lie."""
