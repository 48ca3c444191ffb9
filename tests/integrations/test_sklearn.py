"""Claims about the estimators: they keep scikit-learn's manners."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
import small_encoder
from small_fits import QUICK, examples

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from bough.sklearn import TreeLSTMClassifier, TreeLSTMPairRegressor


def test_a_classifier_is_cloned_searched_pickled_and_keeps_its_labels() -> None:
    texts, names = examples(36)
    labels = np.array([3 if name == "fruit" else 7 for name in names])
    one = TreeLSTMClassifier(trees="none", settings=QUICK, epochs=5)
    assert clone(one).get_params() == one.get_params()
    with pytest.raises(NotFittedError):
        one.predict(texts)
    one.fit(np.array(texts), labels)
    assert one.classes_.tolist() == [3, 7]
    assert one.score(texts, labels) > 0.9
    p = one.predict_proba(texts)
    assert p.sum(axis=1) == pytest.approx(np.ones(len(texts)))
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(again.predict_proba(texts), p)
    assert len(cross_val_score(clone(one).set_params(epochs=1), texts, labels, cv=2)) == 2
    search = GridSearchCV(clone(one), {"hidden_size": [6, 8], "epochs": [1]}, cv=2).fit(texts, labels)
    assert search.best_estimator_.pipeline_.model.config.hidden_size == search.best_params_["hidden_size"]


@pytest.mark.parametrize(
    "changed",
    [{"class_weight": {"fruit": 9.0}}, {"learning_rate": 0.5}, {"batch_size": 2}, {"hidden_size": 5}, {"epochs": 1},
     {"trees": "balanced"}, {"layer": "tree-gru"}, {"random_state": 7}, {"settings": {**QUICK, "dropout": 0.4}}],
    ids=lambda changed: next(iter(changed)),
)  # fmt: skip
def test_a_parameter_is_the_option_of_fit(changed: dict[str, Any]) -> None:
    texts, names = examples(36)
    options: dict[str, Any] = {"trees": "none", "settings": QUICK, "epochs": 3}
    plain, other = (
        TreeLSTMClassifier(**{**options, **more}).fit(texts, names).predict_proba(texts)
        for more in ({}, changed)
    )
    assert np.abs(plain - other).max() > 1e-3
    asked = {
        {"random_state": "seed"}.get(name, name): value for name, value in {**options, **changed}.items()
    }
    assert other == pytest.approx(bough.fit(texts, names, **asked).predict_proba(texts), abs=1e-6)


@pytest.mark.parametrize("estimator", [TreeLSTMClassifier, TreeLSTMPairRegressor])
def test_the_checks_of_scikit_learn_that_need_no_matrix(estimator: type) -> None:
    from sklearn.utils import estimator_checks as checks

    name = estimator.__name__
    for check in (
        "no_attributes_set_in_init",
        "get_params_invariance",
        "set_params",
        "estimator_repr",
        "estimator_cloneable",
    ):
        getattr(checks, f"check_{check}")(name, estimator())
    checks.check_parameters_default_constructible(name, estimator())


def test_folds_are_quiet_unless_verbose(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, labels = examples(12)
    TreeLSTMClassifier(trees="none", settings=QUICK, epochs=1).fit(texts, labels)
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []
    assert capsys.readouterr().err == ""
    TreeLSTMClassifier(trees="none", settings=QUICK, epochs=1, verbose=1).fit(texts, labels)
    assert capsys.readouterr().err != ""


def test_a_regressor_rates_pairs_given_as_columns() -> None:
    texts, names = examples(30)
    pairs = np.array([texts[:-1], texts[1:]]).T
    ratings = np.array([float(name == "fruit") for name in names[:-1]])
    one = TreeLSTMPairRegressor(trees="none", settings=QUICK, epochs=1).fit(pairs, ratings)
    assert one.predict(pairs).shape == (29,)
    assert ((one.predict(pairs) >= 0) & (one.predict(pairs) <= 1)).all()
    assert np.isfinite(one.score(pairs, ratings))


@pytest.mark.parametrize("hole", [None, float("nan"), np.float32("nan"), " "])
def test_a_missing_label_is_said_with_its_place_before_training(hole: object) -> None:
    texts, names = examples(12)
    with pytest.raises(ValueError, match=r"y\[3\] is .*; give it a label, or leave the example out"):
        TreeLSTMClassifier(trees="none", settings=QUICK).fit(texts, [*names[:3], hole, *names[4:]])
    with pytest.raises(ValueError, match=r"y\[3\] is .*; give it a label, or leave the example out"):
        TreeLSTMPairRegressor(trees="none", settings=QUICK).fit([("a", "b")] * 4, [1.0, 2.0, 3.0, hole])


def test_a_class_without_a_text_is_said_and_a_column_of_labels_is_taken() -> None:
    texts, names = examples(12)
    one = TreeLSTMClassifier(trees="none", settings=QUICK, epochs=1)
    with pytest.raises(ValueError, match="the class 'none' has empty texts only"):
        one.fit([*texts, " "], [*names, "none"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        one.fit(texts, names[1:])
    assert one.fit(texts, np.array(names)[:, None]).classes_.tolist() == ["fruit", "tool"]


def test_an_encoder_stands_under_a_classifier_and_survives_a_pickle(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    encoder = small_encoder.make(tmp_path / "tiny")
    texts, labels = examples(20)
    one = TreeLSTMClassifier(encoder=str(encoder), settings={"hidden_size": 8}, epochs=1).fit(texts, labels)
    assert one.pipeline_.model.encoder is not None
    p = one.predict_proba(texts)
    assert np.allclose(pickle.loads(pickle.dumps(one)).predict_proba(texts), p, atol=1e-6)
