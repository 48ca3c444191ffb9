"""Predict numbers from trees with numbers: how long will a database query run?

A node of a query plan has a name, a category and two numbers. Its children are the plans of its parts, as a database
prints them in JSON. The plans and times in this example are made up; `bough fit` reads real ones from JSON lines.
"""

import random

import bough

TABLES = {"country": 100, "customer": 10_000, "order": 1_000_000}


def plan(dice: random.Random, joins: int) -> tuple[dict[str, object], float]:
    """Draw a plan with this number of joins, and its time in milliseconds."""
    if joins == 0:
        table = dice.choice(list(TABLES))
        rows = dice.uniform(0.2, 1) * TABLES[table]
        node = {"Node Type": "Scan", "Relation Name": table, "Plan Rows": rows, "Total Cost": rows / 50}
        return node, rows / 1000
    parts = [plan(dice, joins - 1), plan(dice, 0)]
    rows = min(float(str(part["Plan Rows"])) for part, _ in parts)
    kind = dice.choice(("Hash Join", "Nested Loop"))
    node = {
        "Node Type": kind,
        "Plan Rows": rows,
        "Total Cost": rows / 10,
        "Plans": [part for part, _ in parts],
    }
    return node, sum(ms for _, ms in parts) + rows / (500 if kind == "Hash Join" else 50)


def main() -> None:
    """Fit a model to the times of 400 plans, and evaluate it on 80 others."""
    dice = random.Random(1)
    drawn = [plan(dice, dice.randrange(4)) for _ in range(480)]
    trees = [
        bough.Tree.from_nested(
            node,
            children="Plans",
            token="Node Type",
            categories=["Relation Name"],
            numbers=["Plan Rows", "Total Cost"],
        )
        for node, _ in drawn
    ]
    times = [ms * dice.uniform(0.9, 1.1) for _, ms in drawn]
    mine = bough.fit(trees[:400], times[:400], scale="log", epochs=15, settings={"batch_size": 8})
    figures = mine.evaluate(trees[400:], times[400:]).figures
    print(f"rank correlation on the 80 held out: {figures['spearman']:.2f}")
    print(f"q-error: median {figures['q_error_median']:.2f}, 90th percentile {figures['q_error_p90']:.2f}")
    print(f"{mine(trees[400]).value:.0f} ms predicted, {times[400]:.0f} ms taken")


if __name__ == "__main__":
    main()
