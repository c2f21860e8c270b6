"""Routes that are completed when their first request arrives. The API has about a hundred routes, and most processes need only a few."""

from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import compile_path

_compiled = cache(compile_path)


class DeferredRoute(APIRoute):
    """A route that matches requests at once, but has FastAPI analyse its function's signature only when it is first needed.

    An error in a signature is therefore raised by the first request, or when the OpenAPI document is built, which completes all routes.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's own options
        self._declared: tuple[str, Callable[..., Any], dict[str, Any]] | None = (path, endpoint, options)
        self.path, self.endpoint = path, endpoint
        self.path_regex, self.path_format, self.param_convertors = _compiled(path)
        self.methods = {method.upper() for method in options.get("methods") or ["GET"]}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever FastAPI's route has
        """Complete the route when a caller reads an attribute that only a complete route has."""
        declared = self.__dict__.get("_declared")
        if declared is None or name.startswith("__"):
            raise AttributeError(name)
        self._declared = None
        path, endpoint, options = declared
        try:
            super().__init__(path, endpoint, **options)
        except BaseException:
            self._declared = declared  # the next request finds the same error
            raise
        return getattr(self, name)
