"""How much a session accepts: stated here once, and passed to the page."""

MOST_CLASSES = 200
MOST_AT_ONCE = 1000  # answers in one request
MOST_TOGETHER = 50_000  # items that get one label in one request
LONGEST_CLASS = 100  # characters
LONGEST_NAME = 50  # of a person
