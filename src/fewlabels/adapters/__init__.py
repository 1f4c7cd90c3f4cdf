"""fewlabels in other packages, and other packages in fewlabels."""
