"""The words that two texts share."""

from support.items import words

from fewlabels.items.words import SharedWords

TEXTS = ["How many moons has Mars?", "How many people MARS has", "How deep is the sea?", "How so"]


def test_shared_words_are_listed_rarest_first_and_not_those_of_every_text():
    shared = SharedWords(TEXTS)
    assert shared.between(0, 1) == ["has", "many", "mars"]  # each in two of four texts; "how" is in all
    assert SharedWords(["a b b c", "a b b c", "c c", "d"]).between(0, 1, most=2) == ["b", "a"]  # said twice counts more
    assert shared.between(0, 2) == []


def test_items_without_texts_share_no_words():
    assert words(texts=TEXTS * 10).shared_words(0, 1) == ["has", "many", "mars"]
    assert words().shared_words(0, 1) == []  # every text is "text of word …"
