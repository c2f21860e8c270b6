"""Answers questions without FastAPI's dependencies, which cost more than many questions do.

FastAPI still analyses the signature of each route, and the fields that it makes of it validate the arguments. FastAPI answers two kinds of
questions itself: those with invalid arguments, whose errors it describes, and those that wait for a position.
"""

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Final, get_args, get_origin
from urllib.parse import parse_qsl

from anyio import to_thread
from fastapi import Response
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.types import Scope

Arguments = dict[str, Any]
Dependency = Callable[..., Coroutine[Any, Any, None]]
_ARGUMENTS: Final = "lineage_bridge.arguments"
_WAITING: Final = frozenset({"min_position", "min-position", "wait"})
_WAITING_HEADER: Final = b"x-min-position"


class DirectRoute:
    """The function of a route, with the arguments that FastAPI found in its signature."""

    def __init__(self, function: Callable[..., Response], take_slot: Dependency, fields: Sequence[Any], request: str | None) -> None:
        self._function, self._take_slot, self._request = function, take_slot, request
        self._fields = [(field.name, field.alias, field, _is_list(field.field_info.annotation)) for field in fields]

    def parse(self, scope: Scope) -> bool:
        """Parse the arguments of a question, and keep them in its ASGI scope. Returns whether `answer` can answer the question."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not _WAITING.isdisjoint(name for name, _ in pairs) or any(name == _WAITING_HEADER for name, _ in scope["headers"]):
            return False
        given, found = dict(pairs), Arguments()
        for name, alias, field, is_sequence in self._fields:
            if alias not in given:
                if field.field_info.is_required():
                    return False
                found[name] = field.get_default()
                continue
            sent = [value for key, value in pairs if key == alias] if is_sequence else given[alias]
            value, errors = field.validate(sent, {})
            if errors:
                return False
            found[name] = value
        scope[_ARGUMENTS] = found
        return True

    async def answer(self, request: Request) -> Response:
        """Answer a question that was parsed, in a thread, as soon as it has a slot."""
        arguments: Arguments = request.scope[_ARGUMENTS]
        if self._request:
            arguments = {**arguments, self._request: request}
        await self._take_slot()
        return await to_thread.run_sync(partial(self._function, **arguments))


def direct_route(route: APIRoute, take_slot: Dependency, waiting: Dependency | None) -> DirectRoute | None:
    """Make the direct route of a complete route; None if its function needs more than arguments of the query and the request.

    `take_slot` and `waiting` are the dependencies of the route: the slot is taken before the function is called, and questions that wait
    for a position are left to FastAPI.
    """
    needs = route.dependant
    others = (needs.path_params, needs.header_params, needs.cookie_params, needs.body_params)
    names = (needs.http_connection_param_name, needs.response_param_name, needs.websocket_param_name)
    more = (needs.background_tasks_param_name, needs.security_scopes_param_name)
    if any(others) or any((*names, *more)) or iscoroutinefunction(route.endpoint) or route.response_model is not None:
        return None
    if not {dependency.call for dependency in needs.dependencies} <= {take_slot, waiting}:
        return None
    return DirectRoute(route.endpoint, take_slot, needs.query_params, needs.request_param_name)


def _is_list(annotation: object) -> bool:
    """Whether an argument may be given more than once."""
    return get_origin(annotation) is list or any(get_origin(member) is list for member in get_args(annotation))
