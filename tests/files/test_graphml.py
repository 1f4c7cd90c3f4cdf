"""GraphML as others write it: what counts, what does not, and what is refused."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.foreign import SOME, assert_same, quietly, told

from fewlabels.errors import FileError
from fewlabels.graph import Graph

HEAD = '<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrafting.org/xmlns">\n'
KEY = '<key id="d0" for="edge" attr.name="weight" attr.type="double"><default>4</default></key>\n'
PAIR = '<node id="a"/><node id="b"/>'


class TestGraphml:
    def read(self, tmp_path, body, head=HEAD, **options):
        (tmp_path / "g.graphml").write_text(f"{head}{body}</graphml>", encoding="utf-8")
        return Graph.from_graphml(tmp_path / "g.graphml", **options)

    def test_a_default_weight_counts_and_edges_may_come_first(self, tmp_path):
        body = '<graph><edge source="b" target="a"/><edge source="a" target="b"><data key="d0"> 0.5 </data></edge>'
        graph = self.read(tmp_path, KEY + body + f'{PAIR}<node id="lone"/></graph>')
        assert_same(graph, ["b", "a", "lone"], [[0, 4.5, 0], [4.5, 0, 0], [0, 0, 0]])

    def test_a_directed_graph_is_folded_as_a_list_of_edges(self, tmp_path):
        both = '<edge source="a" target="b"/><edge source="b" target="a"/>'
        assert self.read(tmp_path, f'<graph edgedefault="directed">{PAIR}{both}</graph>').weights[0, 1] == 1
        assert self.read(tmp_path, f'<graph edgedefault="undirected">{PAIR}{both}</graph>').weights[0, 1] == 2
        both = both.replace("<edge", '<edge directed="true"')
        assert self.read(tmp_path, f"<graph>{PAIR}{both}</graph>").weights[0, 1] == 1

    def test_other_attributes_ports_and_prefixes_do_not_matter(self, tmp_path):
        body = (
            '<g:key id="d1" for="node" attr.name="weight"/><g:graph><g:node id="a"><g:data key="d1">heavy</g:data>'
            '<g:port name="p"/></g:node><g:node id="b"/><g:edge source="a" target="b"><g:data key="d9">x</g:data>'
            "</g:edge></g:graph></g:graphml><!-- "
        )
        head = '<g:graphml xmlns:g="http://graphml.graphdrafting.org/xmlns">'
        (tmp_path / "g.graphml").write_text(f"{head}{body}-->", encoding="utf-8")
        assert_same(Graph.from_graphml(tmp_path / "g.graphml"), ["a", "b"], [[0, 1], [1, 0]])

    @pytest.mark.parametrize(
        ("body", "options", "sentence"),
        [
            (f'<graph>{PAIR}<edge source="a" target="c"/></graph>', {}, "an edge names 'c', and no <node> has that id"),
            (f'<graph>{PAIR}<edge source="a"/></graph>', {}, "line 3: an <edge> has no target"),
            ("<graph><node/></graph>", {}, "line 3: a <node> has no id"),
            (f"<graph>{PAIR}{PAIR}</graph>", {}, "line 3: the node 'a' is listed twice"),
            (f"<graph>{PAIR}</graph><graph/>", {}, "line 3: a second <graph>"),
            (f"<graph>{PAIR}<hyperedge/></graph>", {}, "line 3: a hyperedge ties more than two"),
            ("<graph></graph>", {}, "the graph has no nodes"),
            ("", {}, "holds no <graph>"),
            (f"<graph>{PAIR}", {}, "cannot be read as XML: mismatched tag: line 3"),
            (
                f"{KEY}<graph>{PAIR}</graph>",
                {"weight": "wieght"},
                "no attribute 'wieght' of edges. Did you mean 'weight'",
            ),
            (f"<graph>{PAIR}</graph>", {"name": "label"}, "the node 'a' has no attribute 'label'"),
        ],
    )
    def test_what_cannot_be_taken_is_said(self, tmp_path, body, options, sentence):
        with pytest.raises(FileError, match=sentence):
            self.read(tmp_path, body, **options)

    @pytest.mark.parametrize("weight", ["-1", "nan", "inf", "heavy", ""])
    def test_a_weight_that_is_none_is_told_with_its_line(self, tmp_path, weight):
        body = f'{KEY}<graph>{PAIR}<edge source="a" target="b">\n<data key="d0">{weight}</data></edge></graph>'
        with pytest.raises(FileError, match=f"line 5: the weight '{weight}' is not a number >= 0"):
            self.read(tmp_path, body)

    def test_another_kind_of_xml_and_no_xml_are_refused(self, tmp_path):
        with pytest.raises(FileError, match="begins with <svg>"):
            self.read(tmp_path, "", head="<svg>")
        with pytest.raises(FileError, match="cannot be read as XML"):
            self.read(tmp_path, "", head="source,target\n")
        with pytest.raises(FileError, match="there is no file"):
            Graph.from_graphml(tmp_path / "none.graphml")

    @pytest.mark.parametrize("encoding", ["utf-7", "gb18030", "hex", "idna", "punycode", "undefined", "none such"])
    def test_an_encoding_that_cannot_be_read_gets_a_sentence(self, tmp_path, encoding):
        with pytest.raises(FileError, match="cannot be read as XML"):
            self.read(tmp_path, "", head=f'<?xml version="1.0" encoding="{encoding}"?><graphml>')

    @pytest.mark.parametrize("spaces", [0, 30, 63, 200])
    def test_a_billion_laughs_are_refused_before_the_first(self, tmp_path, spaces):
        laughs = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))
        head = f'<?xml version="1.0"?>{" " * spaces}<!DOCTYPE graphml [<!ENTITY l0 "lol">{laughs}]><graphml>'
        begun = time.process_time()
        with pytest.raises(FileError, match=r"g\.graphml has a document type"):
            self.read(tmp_path, '<graph><node id="&l9;"/></graph>', head=head)
        assert time.process_time() - begun < 1

    @SOME
    @given(st.text(max_size=60), st.integers(0, 400))
    def test_any_damage_is_a_graph_or_a_sentence(self, tmp_path, noise, where):
        whole = f'{HEAD}{KEY}<graph>{PAIR}<edge source="a" target="b"><data key="d0">2</data></edge></graph></graphml>'
        damaged = whole[:where] + noise + whole[where + len(noise) // 2 :]
        (tmp_path / "g.graphml").write_bytes(damaged.encode("utf-8", "surrogatepass"))
        assert told(quietly, Graph.from_graphml, tmp_path / "g.graphml").startswith(("Graph(", f"{tmp_path}/g.graphml"))


LONG = "x" * 3_000_000
NODES = '<node id="a"/><node id="b"/><edge source="a" target="b">{}</edge>'


@pytest.mark.parametrize(
    "content",
    [
        f"<graphml><graph>{NODES.format('')}<!--{LONG}--></graph></graphml>",
        f'<graphml><graph>{NODES.format("")}<node id="c" z="{LONG}"/></graph></graphml>',
        f"<{LONG[:100_000]}/>",
        f"<!--{LONG[:100_000]}--><graphml><graph>{NODES.format('')}</graph></graphml>",
    ],
)
def test_a_tag_or_comment_of_megabytes_is_refused(tmp_path, content):
    """Each piece that is read goes through all of it again: 100 MB in the root's tag never came to an end."""
    (tmp_path / "g.graphml").write_text(content)
    with pytest.raises(FileError, match=r"holds a tag or a comment of more than [\d,]+ bytes: remove it"):
        Graph.from_graphml(tmp_path / "g.graphml")


def test_a_long_word_in_the_place_of_a_weight_is_not_repeated_whole(tmp_path):
    key = '<key id="w" for="edge" attr.name="weight"/>'
    weight = f'<data key="w">{LONG}</data>'
    (tmp_path / "g.graphml").write_text(f"<graphml>{key}<graph>{NODES.format(weight)}</graph></graphml>")
    with pytest.raises(FileError, match="is not a number >= 0: fix or remove that edge") as refused:
        Graph.from_graphml(tmp_path / "g.graphml")
    assert len(str(refused.value)) < 300 + len(str(tmp_path))
