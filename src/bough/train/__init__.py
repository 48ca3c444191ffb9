"""One loop for every system: tasks, optimisers, checkpoints, evaluation."""
