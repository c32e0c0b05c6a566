"""The catalogue is complete and consistent."""

from granulearn.bench import paper_accuracy_table
from granulearn.datasets.catalogue import catalogue, collections
from granulearn.datasets.generated import GENERATORS


def test_paper37_is_the_papers_table_in_its_order():
    assert list(collections()["paper37"]) == list(paper_accuracy_table().index)


def test_every_member_of_a_collection_is_catalogued():
    for names in collections().values():
        assert set(names) <= set(catalogue())


def test_every_generator_and_bundled_set_is_catalogued():
    sources = {source for entry in catalogue().values() for source in entry.sources}
    assert {f"generated:{name}" for name in GENERATORS} <= sources
    assert {f"sklearn:{name}" for name in ("breast_cancer", "digits", "iris", "wine")} <= sources


def test_every_source_is_of_a_known_kind():
    kinds = {s.partition(":")[0] for entry in catalogue().values() for s in entry.sources}
    assert kinds == {"generated", "sklearn", "keel", "directory"}


def test_a_set_has_either_sources_and_figures_or_a_hint():
    for entry in catalogue().values():
        if entry.sources:
            assert None not in (entry.rows, entry.features, entry.classes, entry.minority_rows)
        else:
            assert entry.how_to_get
