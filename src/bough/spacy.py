"""The spaCy component: `bough.integrations.spacy` under a shorter name."""

from bough.integrations.spacy import SentimentComponent

__all__ = ["SentimentComponent"]
