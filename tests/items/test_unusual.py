from fewlabels.items.unusual import Unusual


def test_rare_values_come_first_and_names_never():
    rows = [{"id": f"x{k}", "size": str(k), "shape": "round", "kind": "a" if k % 2 else "b"} for k in range(40)]
    rows[5] = {"id": "x5", "size": "900", "shape": "square", "kind": "a"}
    found = Unusual(rows)
    assert found.columns(rows[5], most=3) == ["size", "shape"]
    assert found.columns(rows[5], most=1) == ["size"]
    assert found.columns(rows[20], most=3) == []
    assert found.columns(rows[39], most=3) == ["size"]  # the ends of a column are unusual, the middle is not


def test_a_column_of_one_value_or_of_none_is_usual():
    assert Unusual([{"a": "3"}, {"a": "3"}]).columns({"a": "3"}, most=2) == []
    assert Unusual([]).columns({}, most=2) == []
    assert Unusual([{"a": "inf"}, {"a": "1"}]).columns({"a": "inf"}, most=2) == []
