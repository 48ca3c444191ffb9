"""Claims about the heads: they are the paper's formulas, for any scale and at its edges."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from bough.nn.dropout import dropout_mask, mask
from bough.nn.heads import Classifier, CosineSimilarity, Similarity, target_distribution


@given(st.lists(st.floats(1, 5), min_size=1, max_size=8))
def test_the_target_is_sparse_and_has_the_rating_as_its_mean(ratings: list[float]) -> None:
    y = torch.tensor(ratings, dtype=torch.float64)
    p = target_distribution(y, 5)
    assert torch.allclose(p @ torch.arange(1.0, 6.0, dtype=torch.float64), y)
    assert torch.allclose(p.sum(1), torch.ones(len(y), dtype=torch.float64))
    assert ((p > 0).sum(1) <= 2).all()
    assert (p >= 0).all()


@pytest.mark.parametrize("classes", [2, 3, 5, 10])
def test_the_edges_of_any_scale_are_single_classes(classes: int) -> None:
    p = target_distribution(torch.tensor([1.0, float(classes)]), classes)
    assert torch.equal(p, functional.one_hot(torch.tensor([0, classes - 1]), classes).float())


@pytest.mark.parametrize("rating", [0.99, 5.01, float("nan")])
def test_a_rating_off_the_scale_is_an_error(rating: float) -> None:
    with pytest.raises(ValueError, match="the scale goes from 1 to 5"):
        target_distribution(torch.tensor([3.0, rating]), 5)


def _pair() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 6, dtype=torch.float64), torch.randn(4, 6, dtype=torch.float64)


def test_similarity_is_symmetric_and_a_distribution() -> None:
    head, (left, right) = Similarity(6).double(), _pair()
    assert torch.equal(head(left, right), head(right, left))
    assert torch.allclose(head(left, right).exp().sum(1), torch.ones(4, dtype=torch.float64))
    scores = head.score(head(left, right))
    assert ((scores >= 1) & (scores <= 5)).all()


def test_similarity_is_the_papers_formula() -> None:
    head, (left, right) = Similarity(6, hidden=3).double(), _pair()
    W_times, W_plus = head.W_h[:, :6], head.W_h[:, 6:]
    h_s = torch.sigmoid((left * right) @ W_times.T + (left - right).abs() @ W_plus.T + head.b_h)
    p = torch.softmax(h_s @ head.W_p.T + head.b_p, dim=1)
    assert torch.allclose(head(left, right).exp(), p)


@pytest.mark.parametrize(("features", "blind_to"), [("product", "sign"), ("difference", "shift")])
def test_one_feature_alone_is_blind_to_what_the_other_sees(features: str, blind_to: str) -> None:
    head, (left, right) = Similarity(6, features=features).double(), _pair()  # type: ignore[arg-type]
    changed = (-left, -right) if blind_to == "sign" else (left + 1, right + 1)
    assert torch.allclose(head(left, right), head(*changed))


def test_kl_is_the_divergence_over_the_number_of_classes() -> None:
    head, (left, right) = Similarity(6, classes=4).double(), _pair()
    y = torch.tensor([1.0, 2.5, 3.7, 4.0], dtype=torch.float64)
    p, log_q = target_distribution(y, 4), head(left, right)
    divergence = torch.special.xlogy(p, p) - p * log_q
    assert torch.allclose(head.loss(left, right, y), divergence.sum(1).mean() / 4)


def test_mse_is_that_of_the_expected_rating() -> None:
    head, (left, right) = Similarity(6, objective="mse").double(), _pair()
    y = torch.tensor([1.0, 2.5, 3.7, 5.0], dtype=torch.float64)
    p = head(left, right).exp().tolist()
    errors = [
        sum(i * share for i, share in enumerate(row, 1)) - rating
        for row, rating in zip(p, y.tolist(), strict=True)
    ]
    assert head.loss(left, right, y).item() == pytest.approx(sum(error**2 for error in errors) / 4)


def test_the_classifier_sums_over_nodes_and_drops_only_while_training() -> None:
    head = Classifier(6, 3, dropout=0.5).double()
    h, labels = torch.randn(5, 6, dtype=torch.float64), torch.tensor([0, 1, 2, 0, 1])
    head.eval()
    one_by_one = sum(head.loss(h[i : i + 1], labels[i : i + 1]) for i in range(5))
    assert torch.allclose(head.loss(h, labels), torch.as_tensor(one_by_one))
    quiet = head(h)
    head.train()
    assert not torch.allclose(head(h), quiet)
    mean = torch.stack([head(h) for _ in range(4000)]).mean(0)
    assert torch.allclose(mean, quiet, atol=0.15)


def test_the_loss_of_shared_states_is_that_of_copies() -> None:
    head = Classifier(6, 3).double()
    h, rows, labels = (
        torch.randn(4, 6, dtype=torch.float64),
        torch.tensor([3, 0, 3, 1]),
        torch.tensor([2, 0, 1, 1]),
    )
    assert torch.allclose(head.loss(h, labels, rows), head.loss(h[rows], labels))
    plain = functional.cross_entropy(head(h[rows]), labels, reduction="sum")
    assert torch.allclose(head.loss(h, labels, rows), plain)


def test_the_loss_has_the_gradient_it_says() -> None:
    h, rows, labels = (
        torch.randn(4, 6, dtype=torch.float64),
        torch.tensor([3, 0, 3, 1]),
        torch.tensor([2, 0, 1, 1]),
    )
    head = Classifier(6, 3, dropout=0.5).double()

    def loss(h: torch.Tensor, W_s: torch.Tensor, b_s: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(0)  # the same mask every time
        weights = {"W_s": W_s, "b_s": b_s}
        found: torch.Tensor = torch.func.functional_call(
            _Loss(head), {f"head.{k}": w for k, w in weights.items()}, (h, labels, rows)
        )
        return found

    inputs = [h.requires_grad_(), head.W_s, head.b_s]
    assert torch.autograd.gradcheck(loss, inputs)


class _Loss(torch.nn.Module):
    """A head's loss as a module's forward."""

    def __init__(self, head: Classifier) -> None:
        super().__init__()
        self.head = head

    def forward(
        self, h: torch.Tensor, labels: torch.Tensor, rows: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self.head.loss(h, labels, rows)


@pytest.mark.parametrize(
    "head", [Classifier(6, 3, dropout=0.3), Similarity(6), Similarity(6, objective="mse")]
)
def test_the_compiled_losses_are_those_of_the_equations(
    head: Classifier | Similarity, monkeypatch: pytest.MonkeyPatch
) -> None:
    some, other = torch.randn(4, 6, requires_grad=True), torch.randn(4, 6, requires_grad=True)
    labels = (torch.tensor([2, 0, 1, 1]), torch.tensor([3, 0, 3, 1]))
    inputs = (
        (some, *labels) if isinstance(head, Classifier) else (some, other, torch.tensor([1.0, 2.5, 3.2, 5.0]))
    )
    found = []
    for path in ("0", ""):
        monkeypatch.setenv("BOUGH_FAST", path)
        torch.manual_seed(1)
        loss = head.loss(*inputs)
        found.append([loss, *torch.autograd.grad(loss, [some, *head.parameters()])])
    for by_hand in found[1:]:
        torch.testing.assert_close(by_hand, found[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9])
def test_masks_drop_the_share_they_say(p: float) -> None:
    like = torch.zeros(1, dtype=torch.float64)
    drawn = mask(like, 300, 301, p)
    assert set(drawn.unique().tolist()) <= {0.0, 1.0}
    assert drawn.mean().item() == pytest.approx(1 - p, abs=0.01)
    assert drawn.mean(0).std() < 0.05  # no column is special
    torch.manual_seed(4)
    first = mask(like, 5, 7, p)
    torch.manual_seed(4)
    assert torch.equal(dropout_mask(like, 5, 7, p), first / (1 - p))


def test_a_mask_drops_nearly_all_where_it_should() -> None:
    assert float(mask(torch.zeros(1), 1000, 100, 0.999999).mean()) < 0.001


@pytest.mark.parametrize(
    ("h", "labels", "rows", "message"),
    [
        ((3, 4), [0, 1], None, r"labels are \(2,\) torch.int64; they must be \(3,\)"),
        ((3, 4), [0, 1], [0, 1, 2], r"labels are \(2,\) torch.int64; they must be \(3,\)"),
        ((2, 4), [0, -1], None, r"labels from -1 to 0; there are 0\.\.2"),
        ((2, 4), [0, 3], None, r"labels from 0 to 3; there are 0\.\.2"),
        ((2, 4), [0.0, 1.0], None, r"torch.float32; they must be \(2,\) torch.int64"),
        ((2, 5), [0, 1], None, r"h is \(2, 5\); the classifier takes \(nodes, 4\)"),
    ],
)
def test_labels_that_do_not_fit(
    h: tuple[int, int], labels: list[float], rows: list[int] | None, message: str
) -> None:
    picked = None if rows is None else torch.tensor(rows)
    with pytest.raises(ValueError, match=message):
        Classifier(4, 3).loss(torch.randn(h), torch.tensor(labels), picked)


@pytest.mark.parametrize(
    "rows", [torch.tensor([1, 0], dtype=torch.int32), torch.zeros(2, 1, dtype=torch.int64)]
)
def test_rows_that_do_not_fit(rows: torch.Tensor) -> None:
    with pytest.raises(ValueError, match=r"rows are .*; they must be \(nodes,\) torch.int64"):
        Classifier(4, 3).loss(torch.randn(2, 4), torch.tensor([0, 1]), rows)


@pytest.mark.parametrize("shapes", [((2, 6), (1, 6)), ((2, 6), (2, 5)), ((2, 7), (2, 7)), ((2, 5), (2, 5))])
def test_the_loss_of_pairs_that_do_not_fit(shapes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    left, right = map(torch.randn, shapes)
    with pytest.raises(ValueError, match=r"Similarity takes two of \(pairs, 6\)"):
        Similarity(6).loss(left, right, torch.tensor([1.0, 4.0]))


@pytest.mark.parametrize("objective", ["kl", "mse"])
def test_ratings_and_pairs_that_do_not_fit(objective: str) -> None:
    head, (left, right) = Similarity(6, objective=objective).double(), _pair()  # type: ignore[arg-type]
    for y in (torch.tensor([1.0]), torch.tensor([1, 2, 3, 4])):
        with pytest.raises(ValueError, match="give one float rating per pair"):
            head.loss(left, right, y)
    with pytest.raises(ValueError, match=r"\(4, 6\) and \(4, 5\); Similarity takes two of \(pairs, 6\)"):
        head(left, right[:, :5])


def test_the_loss_has_no_second_derivative_and_says_so() -> None:
    head, h = Classifier(4, 3), torch.randn(2, 4, requires_grad=True)
    (grad,) = torch.autograd.grad(head.loss(h, torch.tensor([0, 2])), h, create_graph=True)
    with pytest.raises(RuntimeError, match="first derivatives only"):
        grad.square().sum().backward()


@pytest.mark.parametrize("inside", [False, True])
def test_the_loss_under_autocast_is_exact(inside: bool) -> None:
    head, labels = Classifier(4, 3), torch.arange(60_000) % 3
    h = torch.randn(60_000, 4, requires_grad=True)
    exact = head.loss(h, labels)
    (expected,) = torch.autograd.grad(exact, h)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = head.loss(h, labels)
        grads = torch.autograd.grad(loss, h, retain_graph=True) if inside else ()
    (grad,) = grads or torch.autograd.grad(loss, h)
    assert torch.equal(loss, exact)
    assert torch.equal(grad, expected)


def test_a_cosine_is_rated_on_a_line_and_its_loss_is_the_error_and_the_partner_among_the_batch() -> None:
    head, (left, right) = CosineSimilarity(negatives=0.5, temperature=0.1).double(), _pair()
    with torch.no_grad():
        head.a.fill_(0.8)
        head.b.fill_(0.1)
    cosines = torch.nn.functional.cosine_similarity(left[:, None], right[None], dim=2)  # (4, 4)
    assert torch.allclose(head(left, right), (1 + 4 * (0.8 * cosines.diagonal() + 0.1)).clamp(1, 5))
    assert torch.allclose(head(left, right), head(3 * left, right / 7))
    y = torch.tensor([1.0, 4.2, 3.0, 5.0], dtype=torch.float64)
    error = (0.8 * cosines.diagonal() + 0.1 - (y - 1) / 4).square().mean()
    log_p = (cosines / 0.1).log_softmax(dim=1)
    assert torch.allclose(head.loss(left, right, y), error - 0.5 * (log_p[1, 1] + log_p[3, 3]) / 2)
    errors = (0.8 * cosines.diagonal() + 0.1 - (y - 1) / 4).square()
    weights = torch.tensor([2.0, 0.5, 0.0, 3.0], dtype=torch.float64)
    weighted = (errors * weights).mean() - 0.5 * (0.5 * log_p[1, 1] + 3.0 * log_p[3, 3]) / 2
    assert torch.allclose(head.loss(left, right, y, weights), weighted)
    with pytest.raises(ValueError, match="takes two of"):
        head.loss(left, right[:2], y)


@pytest.mark.parametrize("way", ["0", ""])
@pytest.mark.parametrize("name", ["W_s", "b_s", "W_h", "b_h", "W_p", "b_p"])
def test_a_weight_of_another_shape_is_named(name: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUGH_FAST", way)
    h = torch.randn(4, 6)
    head = Classifier(6, 3) if name.endswith("s") else Similarity(6)
    wide = getattr(head, name)
    setattr(head, name, torch.nn.Parameter(wide[..., :1].detach()))
    labels, ratings = torch.tensor([0, 1, 2, 0]), torch.tensor([1.0, 2, 3, 4])
    said = rf"{name} of \w+ is \(.*1,?\) .*; it must be \("
    with pytest.raises(ValueError, match=said):
        head.loss(h, labels) if isinstance(head, Classifier) else head.loss(h, h, ratings)
    with pytest.raises(ValueError, match=said):
        head(h) if isinstance(head, Classifier) else head(h, h)


def test_weights_of_two_types_are_an_error() -> None:
    head = Classifier(6, 3)
    head.b_s = torch.nn.Parameter(head.b_s.detach().double())
    with pytest.raises(
        ValueError, match=r"b_s of Classifier is \(3,\) torch.float64 .* \(3,\) torch.float32"
    ):
        head(torch.randn(4, 6))
