"""The schemas of requests and responses, from which `/docs` and `/openapi.json` are made."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from bough.draw import WIDEST
from bough.serve import limits

Text = Annotated[str, Field(min_length=1, max_length=limits.CHARACTERS)]
# a text, or a tree, which may be longer
Example = Annotated[str, Field(min_length=1, max_length=limits.TREE)]
Line = Annotated[str, Field(max_length=limits.LINE)]
Place = Annotated[int, Field(ge=0, lt=100_000)]
Probabilities = dict[str, float]


class Shape(BaseModel):
    """Base of all schemas: an unknown key is an error, and a number is not a string."""

    model_config = ConfigDict(extra="forbid", strict=True)


class OneText(Shape):
    """A text, which may have several sentences. A model that was fitted on trees takes brackets or JSON."""

    text: Example = Field(description="a text", examples=["The plot is thin, but the acting is wonderful."])


class ManyTexts(Shape):
    """Several texts, each of which gets a prediction."""

    texts: list[Example] = Field(min_length=1, max_length=limits.TEXTS, description="the texts")


def _number(body: Any) -> str:
    return "texts" if isinstance(body, dict) and "texts" in body and "text" not in body else "text"


Tagged = Annotated[OneText, Tag("text")] | Annotated[ManyTexts, Tag("texts")]
Texts = Annotated[Tagged, Discriminator(_number)]


class Outcome(Shape):
    """Prediction: `label`, `score` and `probabilities`, `labels` and `probabilities`, or `numbers`."""

    label: str | None = Field(default=None, description="the predicted class")

    score: Annotated[float, Field(ge=-1, le=1)] | None = Field(
        default=None,
        description="from -1 to 1: how positive, or where on an ordered scale; or the probability of the label",
    )
    labels: list[str] | None = Field(default=None, description="the labels above their thresholds")
    probabilities: Probabilities | None = Field(default=None, description="by class")
    numbers: dict[str, float] | None = Field(default=None, description="by name")


class Phrase(Outcome):
    """A node of a tree."""

    span: Annotated[list[int], Field(min_length=2, max_length=2)] = Field(
        description="the index of the first token, and of the one after the last"
    )
    text: str
    children: list[int] = Field(description="indices in the list of nodes")


class Prediction(Outcome):
    """The prediction for a text and for every phrase, as `bough predict --json` prints it."""

    text: str
    polarity: Literal["negative", "neutral", "positive"] | None = Field(
        default=None, description="the polarity with the largest sum; missing if the classes have none"
    )
    tokens: list[str]
    nodes: list[Phrase] = Field(description="the phrases, each tree in preorder")
    sentences: list[int] = Field(description="the index of each sentence's root in the list of nodes")


class Two(Shape):
    """Two sentences."""

    a: Text = Field(examples=["A man plays a guitar"])
    b: Text = Field(examples=["A man plays music"])


class PairPrediction(Shape):
    """The rating or the class of a pair, as `bough relatedness --json` prints it."""

    a: str
    b: str
    label: str | None = Field(default=None, description="the most probable class; missing for ratings")
    score: float = Field(description="the expected rating, or the probability of the label")
    probabilities: Probabilities = Field(description="by rating or class; empty for the cosine")


class Search(Shape):
    """A query and the lines to search."""

    query: Text = Field(examples=["two men are playing guitar"])
    corpus: list[Line] = Field(
        min_length=1,
        max_length=limits.LINES,
        description="one sentence each; blank lines are skipped",
        examples=[["A man is playing a guitar", "A train is leaving"]],
    )
    k: int = Field(default=3, ge=1, le=limits.MOST_NEAREST, description="how many to find", examples=[1])


class Found(Shape):
    """A line of the corpus and its score, as `bough nearest --json` prints it."""

    text: str
    score: float
    line: int = Field(ge=1, description="counted from 1")


class NearestResult(Shape):
    """The nearest lines, best first."""

    nearest: list[Found] = Field(description="by relatedness")


class Picture(Shape):
    """What to draw."""

    text: Example = Field(examples=["A tree grows."])
    view: Literal["phrases", "dependencies"] = Field(default="phrases", examples=["dependencies"])
    sentences: bool = Field(default=True, description="for dependencies: split the text into sentences first")
    only: Place | None = Field(default=None, description="draw only this node and its descendants")
    collapsed: list[Place] = Field(default=[], max_length=500, description="nodes to draw as leaves")
    width: int = Field(default=WIDEST, ge=100, le=10_000, description="a wider tree has one word per row")


class Drawing(Shape):
    """A picture, and the prediction that it shows."""

    svg: str = Field(description="without a style sheet; /assets/tree.css is one")
    result: Prediction | None = Field(description="the prediction; null for dependencies")


class Health(Shape):
    """The state of the server."""

    status: Literal["ok"]
    version: str


class Problem(Shape):
    """The reason why a request failed."""

    detail: str = Field(description="one line")
