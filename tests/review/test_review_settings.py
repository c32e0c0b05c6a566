"""What a review is told at its start."""

import getpass
from importlib.metadata import version

import pytest

from granulearn.review.review_settings import (
    ORDERS,
    check_order,
    check_settings,
    installed_version,
    leaving_out,
    user_name,
)
from granulearn.tables import ColumnOptions


def test_an_unknown_order_names_the_known_ones():
    for order in ORDERS:
        check_order(order)
    with pytest.raises(ValueError, match="order='best' must be one of worst, random"):
        check_order("best")


def test_settings_that_cannot_be_are_named():
    check_settings(["id"], 1, 1)
    with pytest.raises(ValueError, match=r"keep='id' must be a list of columns, such as \['id'\]"):
        check_settings("id", 1, 1)
    with pytest.raises(ValueError, match="sample=0 must be 1 or more"):
        check_settings([], 0, 1)
    with pytest.raises(ValueError, match="refit_every=-1 must be 1 or more"):
        check_settings([], 1, -1)


def test_the_column_of_groups_is_no_input_and_is_left_out_once():
    options = ColumnOptions(ignore=("id",))
    assert leaving_out(options, None) == options
    assert leaving_out(options, "patient").ignore == ("id", "patient")
    assert leaving_out(options, "id") == options


def test_a_user_without_a_name_is_somebody(monkeypatch):
    def nobody():
        raise KeyError("no such user")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert user_name() == "somebody"
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    assert user_name() == "ada"


def test_the_version_is_that_of_the_installed_package():
    assert installed_version() == version("granulearn")
