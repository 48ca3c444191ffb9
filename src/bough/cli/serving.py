"""`bough serve`."""

from __future__ import annotations

import contextlib
from typing import Annotated

from cyclopts import Parameter

from bough.cli.options import use_threads


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    model: str | None = None,
    workers: int = 1,
    browser: Annotated[bool, Parameter(name="--open", negative="")] = False,
) -> None:
    """Show the trees on a page, and answer programs in JSON.

    Parameters
    ----------
    host
        The address to listen on; by default only this machine can connect.
    port
        The port; 0 chooses a free one.
    model
        The folder of your own model; it replaces sentiment, or relatedness if it is a model of pairs.
    workers
        Processes that share the port, each with its own models; at most one per processor is useful.
    browser
        Open the page in the browser.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ValueError(f'the page needs {error.name}: pip install "bough[serve]"') from None
    from bough.serve.server import serve as run

    use_threads()

    def announce(address: str) -> None:
        print(f"bough: {address}  (the API: {address}/docs; stop with Ctrl-C)", flush=True)  # noqa: T201
        if browser:
            import webbrowser

            webbrowser.open(address)

    with contextlib.suppress(KeyboardInterrupt):  # the way it is stopped
        run(host, port, callback=announce, model=model, workers=workers)
