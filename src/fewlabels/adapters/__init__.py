"""fewlabels inside other packages: what they know, in their own words."""
