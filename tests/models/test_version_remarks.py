"""A model of another version of scikit-learn gives one warning, not one per part."""

import sys
import warnings

import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from granulearn import RVFLClassifier
from granulearn.models import load_model, model_files, save_model
from granulearn.models.version_remarks import one_remark_on_versions


@pytest.fixture
def of_another_version(tmp_path, monkeypatch):
    """Return the path of a model file that says it was made with scikit-learn 1.5.2."""
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RVFLClassifier(random_state=0)).fit(X, y)
    path = tmp_path / "model.skops"
    versions = model_files.installed_versions() | {"scikit-learn": "1.5.2"}
    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["sklearn.base"], "__version__", "1.5.2")
        patched.setattr(model_files, "installed_versions", lambda: versions)
        save_model(pipeline, path)
    return path


def test_parts_of_another_version_give_one_warning(of_another_version):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        load_model(of_another_version)
    (only,) = said
    assert "was made with scikit-learn 1.5.2, and " + sklearn.__version__ in str(only.message)


def test_the_same_version_gives_none():
    with one_remark_on_versions("m.skops", {"scikit-learn": sklearn.__version__}):
        pass
    with one_remark_on_versions("m.skops", {}):
        pass


def test_other_warnings_pass():
    def load():
        with one_remark_on_versions("m.skops", {}):
            known = {"estimator_name": "A", "current_sklearn_version": "1"}
            warnings.warn(
                InconsistentVersionWarning(**known, original_sklearn_version="2"), stacklevel=1
            )
            warnings.warn("another", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="another"):
        load()
