"""`python -m benchmarks NAME ...`: run one benchmark; `--help` after its name lists its options."""

import runpy
import sys

NAMES = {
    "speed": "a training step against its matrix multiplications, recursion and plain torch",
    "latency": "one tree at a time, against steps of torch's LSTMCell and recursion",
    "scaling": "training on more cores",
    "scaling_scoring": "scoring a million sentences on a Ray cluster",
    "load": "requests per second, latency and memory of `bough serve`",
    "listops": "accuracy on ListOps: the value of a nested expression",
    "logic": "accuracy on logical inference, on formulas longer than those of training",
    "entailment": "accuracy on SICK's entailment labels",
    "plans": "q-error of the latency of query plans, and milliseconds per plan",
}


def main() -> None:
    """Run the benchmark that the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        lines = "".join(f"\n  {name:<16} {what}" for name, what in NAMES.items())
        sys.exit(f"usage: python -m benchmarks NAME [OPTIONS], where NAME is one of{lines}")
    name = sys.argv.pop(1)
    runpy.run_module(f"benchmarks.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
