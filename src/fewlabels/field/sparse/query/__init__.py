"""Which question costs least, without scoring every pair: all are screened on a sample, the best scored in full."""
