"""What a release states in several files is the same in all of them."""

import re
from pathlib import Path

import yaml

from tests.test__extras import PROJECT

ROOT = Path(__file__).resolve().parents[1]


def released(changelog):
    """Return the versions of the changelog with their dates, the newest first."""
    return re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$", changelog, re.MULTILINE)


def test_pyproject_citation_and_changelog_agree_on_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    version, date = released((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[0]
    assert PROJECT["version"] == version == citation["version"]
    assert citation["date-released"].isoformat() == date
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_the_changelog_begins_with_what_is_not_released():
    headings = re.findall(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert headings[0] == "## Unreleased"
    assert len(released("\n".join(headings))) == len(headings) - 1
