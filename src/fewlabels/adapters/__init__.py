"""fewlabels as other tools expect it: each module speaks the language of one of them."""
