"""fewlabels inside other packages and tools, in their own words."""
