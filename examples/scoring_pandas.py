"""Score a table of reviews with pandas: one row per text, then one row per phrase."""

import pandas

import bough

REVIEWS = pandas.DataFrame(
    {
        "film": ["Harbour", "Harbour", "Two Owls", "Two Owls", "Two Owls"],
        "stars": [2, 4, 5, 1, 3],
        "review": [
            "A tired plot that even good actors cannot save.",
            "Slow to start, but the last hour is wonderful.",
            "Funny, warm and beautifully shot.",
            "The worst film I have seen this year.",
            None,
        ],
    },
    index=["r17", "r18", "r21", "r22", "r25"],
)


def main() -> None:
    """Score, join by the index, and ask what the reviews are about."""
    sentiment = bough.load("sentiment")
    scored = REVIEWS.join(sentiment.frame(REVIEWS["review"])[["label", "score"]])
    print(scored[["film", "stars", "label", "score"]].round(2).to_string())
    print("\nby film:", scored.groupby("film")["score"].mean().round(2).to_dict())
    known = scored.dropna(subset="score")
    print(f"rank correlation with the stars: {known['stars'].rank().corr(known['score'].rank()):.2f}")

    phrases = sentiment.frame(REVIEWS["review"], phrases=True)
    short = phrases[phrases["phrase"].str.split().str.len().between(2, 5)]
    print("\nthe strongest phrases:")
    strongest = short.loc[:, ["phrase", "score"]].sort_values("score").iloc[[0, 1, -2, -1]]
    print(strongest.round(2).to_string())


if __name__ == "__main__":
    main()
