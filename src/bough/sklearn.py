"""scikit-learn estimators: `bough.integrations.sklearn` under a shorter name."""

from bough.integrations.sklearn import (
    TreeLSTMClassifier,
    TreeLSTMPairClassifier,
    TreeLSTMPairRegressor,
    TreeLSTMRegressor,
)

__all__ = ["TreeLSTMClassifier", "TreeLSTMPairClassifier", "TreeLSTMPairRegressor", "TreeLSTMRegressor"]
