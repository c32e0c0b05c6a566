"""What a row says about where it was made."""

import json
import platform
from importlib.metadata import version

from granulearn.studies.environment import describe_environment


def test_versions_are_those_installed_and_the_facts_are_plain():
    facts = describe_environment()
    assert facts["packages"]["numpy"] == version("numpy")
    assert facts["python"] == platform.python_version()
    assert facts["cores"] >= 1
    assert json.loads(json.dumps(facts)) == facts


def test_it_is_the_same_throughout_a_run():
    assert describe_environment() == describe_environment()


def test_neither_host_nor_user_is_named():
    assert platform.node() not in json.dumps(describe_environment()).split('"')
