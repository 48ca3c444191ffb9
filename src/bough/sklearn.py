"""scikit-learn estimators: `bough.integrations.sklearn` under a shorter name."""

from bough.integrations.sklearn import TreeLSTMClassifier, TreeLSTMPairRegressor

__all__ = ["TreeLSTMClassifier", "TreeLSTMPairRegressor"]
