"""Which question is lowest, without scoring every pair: a sample screens them all, the best are scored in full."""
