"""Which columns are compared, how, and what is said about it."""

import numpy as np
import pandas as pd
import pytest

from fewlabels.errors import FileError, SettingError
from fewlabels.files.columns import compare_columns

N = 24
TABLE = pd.DataFrame(
    {
        "customerId": [str(7 * k) for k in range(N)],
        "row": [str(k + 1) for k in range(N)],
        "code": [f"x{k}" for k in range(N)],
        "size": ["", *(f"{k},5" for k in range(1, N))],
        "town": ["Bonn", "Ulm", "", "Ulm"] * (N // 4),
        "since": [f"{k + 1:02}.05.2024" for k in range(N)],
        "note": [f"this is text {k}" for k in range(N)],
        "year": ["2024"] * N,
        "rare": ["1", *[""] * (N - 1)],
        "class": ["a", "b"] * (N // 2),
    }
)


def test_each_column_is_used_by_what_it_holds_and_accounted_for():
    found = compare_columns("t.csv", TABLE)
    assert found.sentences == [
        "Compared, each scaled to mean 0 and variance 1: size (numbers); town (categories, 0 or 1 for each value); "
        "since (dates, as days)",
        "Filled in: size: 1 empty cell with the median 12.5, town: 6 empty cells as a category of their own",
        "Left out: customerId (an id: --columns customerId compares it), row (an id: --columns row compares it), "
        "code (an id), note (text: --text note compares it), year (the same in every row), "
        "rare (23 of 24 cells are empty), class (looks like labels: --label-column class takes it)",
    ]
    size, towns, since = found.X[:, :1], found.X[:, 1:4], found.X[:, 4:]
    for block in (size, towns, since):
        np.testing.assert_allclose([block.mean(), block.var(axis=0).sum()], [0, 1], atol=1e-12)
    assert size[0] == size[12] + (size[1] - size[1])  # row 12 holds 12,5, the median
    assert len(np.unique(towns, axis=0)) == 3
    np.testing.assert_allclose(np.diff(since[:, 0]), np.diff(since[:2, 0])[0])


def test_columns_asked_for_are_compared_and_others_are_not():
    found = compare_columns("t.csv", TABLE, ["row", "class"])
    assert found.X.shape == (N, 3)
    assert "row (numbers)" in found.sentences[0]
    found = compare_columns("t.csv", TABLE, None, ["town", "since"])
    assert found.X.shape == (N, 1)
    assert "town (as told)" in found.sentences[-1]
    for options, sentence in [
        ({"columns": ["sise"]}, "--columns names 'sise', and the columns of t.csv are .* Did you mean 'size'"),
        ({"ignore": ["towm"]}, "--ignore names 'towm'"),
        ({"columns": ["note"]}, "'note' holds 24 different texts, .* --text note"),
    ]:
        with pytest.raises(FileError, match=sentence):
            compare_columns("t.csv", TABLE, **options)
    with pytest.raises(SettingError, match="both name 'size'"):
        compare_columns("t.csv", TABLE, ["size"], ["size"])


def test_words_among_numbers_are_refused_with_their_row():
    with pytest.raises(FileError, match=r"row 3: column 'x' holds 'three', not a number\. .*--ignore x"):
        compare_columns("t.csv", pd.DataFrame({"x": ["1", "2", "three", "4"]}))
    with pytest.raises(FileError, match="row 2: column 'x' holds 'inf'"):
        compare_columns("t.csv", pd.DataFrame({"x": [1.0, np.inf, 3.0]}))


def test_types_of_parquet_are_kept():
    table = pd.DataFrame(
        {
            "x": [1.5, None, 2.5, 9, 4],
            "n": pd.array([1, None, 5, 5, 2], dtype="Int64"),
            "ok": [True, False, True, True, True],
            "at": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-09", "2024-01-04"]),
            "kind": pd.Categorical(["u", "v", "u", None, "v"]),
        }
    )
    found = compare_columns("t.parquet", table)
    assert found.X.shape == (5, 1 + 1 + 2 + 1 + 3)
    assert "x, n (numbers); ok, kind (categories, 0 or 1 for each value); at (dates, as days)" in found.sentences[0]


@pytest.mark.parametrize("name", ["acid", "humid", "bid", "piano", "kidneys"])
def test_a_feature_is_not_an_id_by_its_last_letters(name):
    assert compare_columns("t.csv", pd.DataFrame({name: ["3", "9", "5"]})).X is not None


def test_none_is_a_category_among_words_and_nothing_among_numbers():
    table = pd.DataFrame(
        {"pain": ["none", "none", "none", "mild", "none", ""], "x": ["1", "2", "none", "4", "5", "9"]}, dtype=str
    )
    found = compare_columns("t.csv", table)
    assert found.sentences == [
        "Compared, each scaled to mean 0 and variance 1: pain (categories, 0 or 1 for each value); x (numbers)",
        "Filled in: pain: 1 empty cell as a category of their own, x: 1 empty cell with the median 4",
    ]
    assert len(np.unique(found.X[:, :3], axis=0)) == 3


def test_names_with_commas_are_quoted_and_numbers_called_nr_are_ids():
    table = pd.DataFrame({"Kunden-Nr.": ["1007", "1003", "1005"], "size, cm": ["1", "2", "4"]})
    assert compare_columns("t.csv", table).sentences == [
        'Compared, each scaled to mean 0 and variance 1: "size, cm" (numbers)',
        "Left out: Kunden-Nr. (an id: --columns Kunden-Nr. compares it)",
    ]
