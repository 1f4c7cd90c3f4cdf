"""How much a session accepts: stated here once, and passed to the page."""

MOST_CLASSES = 200
MOST_AT_ONCE = 1000  # answers in one request
MOST_TOGETHER = 50_000  # items that get one label in one request
LONGEST_CLASS = 100  # characters
LONGEST_NAME = 50  # of a person
LONGEST_DESCRIPTION = 300  # of a class
LONGEST_NOTE = 1000  # on an item
COLOURS = 40  # that a class may be given
