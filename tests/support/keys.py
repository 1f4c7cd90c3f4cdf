"""Keys of requests, each fresh."""

import itertools

_numbers = itertools.count()


def fresh_key():
    return f"key-{next(_numbers):08d}"
