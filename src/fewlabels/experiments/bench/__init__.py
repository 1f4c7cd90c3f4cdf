"""Speed on this machine, as ratios to honest rivals in the same run. A case is timed only once it is found correct."""
