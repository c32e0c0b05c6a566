"""A picture of a page leads to itself, at its full size."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.utils import new_document

from docs._extensions.pictures_open import link_pictures

APP = SimpleNamespace(
    builder=SimpleNamespace(get_target_uri=lambda name: f"{name}.html", imagedir="_images"),
    env=SimpleNamespace(images={"images/a.png": ({"guide/page"}, "a1.png")}),
)


def page(*content: nodes.Node) -> nodes.document:
    """Return a page with one paragraph."""
    document = new_document("page")
    document += nodes.paragraph("", "", *content)
    return document


@pytest.mark.parametrize(
    ("docname", "address"), [("guide/page", "../_images/a1.png"), ("index", "_images/a1.png")]
)
def test_a_picture_leads_to_its_file(docname, address):
    document = page(nodes.image(uri="images/a.png", alt="what it shows"))
    link_pictures(APP, document, docname)
    (link,) = document.findall(nodes.reference)
    assert link["refuri"] == address
    assert [child["alt"] for child in link] == ["what it shows"]


def test_a_picture_that_is_a_link_already_stays_one():
    link = nodes.reference("", "", nodes.image(uri="images/a.png"), refuri="elsewhere")
    document = page(link)
    link_pictures(APP, document, "guide/page")
    assert [found["refuri"] for found in document.findall(nodes.reference)] == ["elsewhere"]


@pytest.mark.parametrize(("docname", "uri"), [("gallery/x", "images/a.png"), ("index", "b.png")])
def test_pictures_of_examples_and_of_elsewhere_stay_as_they_are(docname, uri):
    document = page(nodes.image(uri=uri))
    link_pictures(APP, document, docname)
    assert list(document.findall(nodes.reference)) == []
