"""The shapes of requests and answers; `/docs` and `/openapi.json` are made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from bough.draw import WIDEST
from bough.models.output_spec import SENTIMENT
from bough.serve import limits

Text = Annotated[str, Field(min_length=1, max_length=limits.CHARACTERS)]
Line = Annotated[str, Field(max_length=limits.LINE)]
Place = Annotated[int, Field(ge=0, lt=100_000)]
CLASSES = SENTIMENT
Label = Literal[CLASSES]  # type: ignore[valid-type]
Five = Annotated[list[float], Field(min_length=5, max_length=5)]


class Shape(BaseModel):
    """What all shapes share: an unknown key is an error, and a number is not a string."""

    model_config = ConfigDict(extra="forbid", strict=True)


class OneText(Shape):
    """A text; it may have several sentences."""

    text: Text = Field(description="a text", examples=["The plot is thin, but the acting is wonderful."])


class ManyTexts(Shape):
    """Several texts, each with a result of its own."""

    texts: list[Text] = Field(min_length=1, max_length=limits.TEXTS, description="the texts")


def _number(body: Any) -> str:
    return "texts" if isinstance(body, dict) and "texts" in body and "text" not in body else "text"


Texts = Annotated[
    Annotated[OneText, Tag("text")] | Annotated[ManyTexts, Tag("texts")], Discriminator(_number)
]


class Phrase(Shape):
    """A node of a tree."""

    span: Annotated[list[int], Field(min_length=2, max_length=2)] = Field(
        description="the first token and the one after the last"
    )
    text: str
    label: Label = Field(description="the likeliest class")
    score: float = Field(ge=-1, le=1, description="the expected class, from -1 to 1")
    probabilities: Five = Field(description=", ".join(CLASSES))
    children: list[int] = Field(description="places in the list of nodes")


class SentimentResult(Shape):
    """The sentiment of a text and of every phrase, as `bough sentiment --json` prints it."""

    text: str
    label: Label
    polarity: Literal["negative", "neutral", "positive"] = Field(
        description="the likeliest of the classes' sums"
    )
    score: float = Field(ge=-1, le=1)
    probabilities: Five = Field(description=", ".join(CLASSES))
    tokens: list[str]
    nodes: list[Phrase] = Field(description="the phrases, each tree in preorder")
    sentences: list[int] = Field(description="the place of each sentence's root among the nodes")


class Two(Shape):
    """Two sentences."""

    a: Text = Field(examples=["A man plays a guitar"])
    b: Text = Field(examples=["Someone is making music"])


class RelatednessResult(Shape):
    """How related two sentences are, as `bough relatedness --json` prints it."""

    a: str
    b: str
    score: float = Field(ge=1, le=5)
    probabilities: Five = Field(description="of the ratings 1 to 5")


class Search(Shape):
    """A query and the lines to search."""

    query: Text = Field(examples=["two men are playing guitar"])
    corpus: list[Line] = Field(
        min_length=1,
        max_length=limits.LINES,
        description="one sentence each; blank ones are skipped",
        examples=[["A man is playing a guitar", "A train is leaving"]],
    )
    k: int = Field(default=3, ge=1, le=limits.MOST_NEAREST, description="how many to find", examples=[1])


class Found(Shape):
    """A line of the corpus, as `bough nearest --json` prints it."""

    text: str
    score: float
    line: int = Field(ge=1, description="counted from 1")


class NearestResult(Shape):
    """The nearest lines, best first, by two measures."""

    model: list[Found] = Field(description="by the Tree-LSTM's relatedness, 1 to 5")
    cosine: list[Found] = Field(description="by the cosine of mean word rows of the model's folded table")


class Picture(Shape):
    """What to draw."""

    text: Text = Field(examples=["A tree grows."])
    view: Literal["phrases", "dependencies"] = Field(default="phrases", examples=["dependencies"])
    sentences: bool = Field(default=True, description="of dependencies: cut the text into sentences first")
    only: Place | None = Field(default=None, description="the one node to draw, with what is below it")
    collapsed: list[Place] = Field(default=[], max_length=500, description="nodes to draw whole")
    width: int = Field(default=WIDEST, ge=100, le=10_000, description="what is wider runs downwards")


class Drawing(Shape):
    """A picture, and what it shows."""

    svg: str = Field(description="without a style; /assets/tree.css is one")
    result: SentimentResult | None = Field(description="the sentiment; null for dependencies")


class Health(Shape):
    """That the server works."""

    status: Literal["ok"]
    version: str


class Problem(Shape):
    """Why there is no result."""

    detail: str = Field(description="one line")
