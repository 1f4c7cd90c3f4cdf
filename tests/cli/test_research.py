"""`fewlabels compare` and `fewlabels reproduce`."""

import pandas as pd
import pytest
from support.command import run


def test_reproduce_prints_figure_1(tmp_path):
    done = run("reproduce", "figure-1", cwd=tmp_path)
    rows = {line.split("│")[1].strip(): line.split("│")[-2].strip() for line in done.stdout.splitlines() if "│" in line}
    assert rows == {"truth": "", "zlg": "0.33", "sopt": "0.06", "bmrf": "0.00", "tsa": "0.00"}
    assert run("reproduce", "figure-9", cwd=tmp_path).returncode == 2


def test_compare_ranks_strategies_on_a_graph_and_gives_advice(tmp_path):
    path = range(20)
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in path))
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"n{k},{'ab'[k > 12]}\n" for k in range(21)))
    command = ["compare", "edges.csv", "--labels", "labels.csv", "--strategies", "tsa,random", "--trials", "6"]
    done = run(*command, "--n-labels", "6", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "21 nodes, 20 edges, 21 labels known" in done.stdout
    assert "tsa - random" in done.stdout
    assert "Use tsa" in done.stdout
    rows = pd.read_csv(tmp_path / "results" / "edges.csv")
    assert len(rows) == 2 * 6 * 6
    assert {file.name for file in (tmp_path / "results").iterdir()} >= {"edges.png", "edges.svg", "report.html"}


def test_compare_takes_rows_of_numbers_with_a_label_column(tmp_path):
    table = pd.DataFrame({"x": [k / 7 for k in range(30)], "note": "hello", "kind": ["a"] * 14 + ["b"] * 15 + [""]})
    table.to_csv(tmp_path / "points.csv", index=False)
    command = [
        "compare",
        "points.csv",
        "--label-column",
        "kind",
        "--strategies",
        "tsa",
        "--trials",
        "2",
        "--neighbors",
        "3",
    ]
    done = run(*command, "--n-labels", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "30 nodes" in done.stdout
    assert "29 labels known" in done.stdout
    assert "Compared, each scaled to mean 0 and variance 1: x (numbers)" in done.stdout
    assert "Left out: note (the same in every row)" in done.stdout


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("x,label\n1,a\n2,a\n", "holds 1 class(es): a comparison needs at least two"),
        ("x,kind\n1,a\n2,b\n", "has no column 'label'"),
        ("word,label\nu,a\nv,b\n", "has no column of numbers or categories besides 'label'"),
        ("x,label\n1,a\n2,b\nfew,a\n", "row 3: column 'x' holds 'few', not a number"),
    ],
)
def test_compare_says_what_is_wrong_with_a_table(tmp_path, content, sentence):
    (tmp_path / "t.csv").write_text(content)
    done = run("compare", "t.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
