"""The cited systems without a layer: regressors on features (Table 3), Paragraph-Vec (Table 2)."""

from paper.systems.paragraph_vec import PARAGRAPH_VEC, FittedParagraphs, ParagraphVec
from paper.systems.semeval import SYSTEMS, Fitted, System

__all__ = ["PARAGRAPH_VEC", "SYSTEMS", "Fitted", "FittedParagraphs", "ParagraphVec", "System"]
