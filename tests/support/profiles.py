"""How Hypothesis looks for examples: the same ones every time, as many as asked for, however long they take."""

from hypothesis import HealthCheck, settings


def examples(count):
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
