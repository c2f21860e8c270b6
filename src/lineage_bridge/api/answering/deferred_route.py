"""Routes that are made ready for requests when the first one comes: an API has a hundred, and most processes are asked for a few."""

from collections.abc import Callable
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import compile_path


class DeferredRoute(APIRoute):
    """Knows at once which requests are its own; FastAPI reads arguments and answer from the signature once anything else is asked of it.

    So an error in a signature comes with the first request, or with the OpenAPI document, which describes all routes.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401 - FastAPI's own options
        self._declared: tuple[str, Callable[..., Any], dict[str, Any]] | None = (path, endpoint, options)
        self.path, self.endpoint = path, endpoint
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.methods = {method.upper() for method in options.get("methods") or ["GET"]}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever FastAPI's route has
        """What is there only when the route is ready."""
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
