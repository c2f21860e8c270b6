"""Requests and answers of Amazon's APIs, held against the models of the services that botocore has: names, types, lengths, patterns."""

import re
from functools import cache
from typing import Any

import botocore.session
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator

_SURROGATES = re.compile(r"\\uD800\\uDC00-\\uDBFF\\uDFFF")


@cache
def model_of(service: str) -> ServiceModel:
    """The model of a service."""
    return botocore.session.get_session().get_service_model(service)


def problems(shape: Shape, value: Any) -> list[str]:
    """What of a value is not as its shape has it."""
    report = ParamValidator().validate(value, shape)
    return [report.generate_report()] if report.has_errors() else [*_limits(shape, value, shape.name)]


def _limits(shape: Shape, value: Any, path: str) -> list[str]:
    found, limits = [], shape.metadata
    if isinstance(value, str | bytes | list | dict) and shape.type_name != "structure":
        size = len(value.encode("utf-16-le")) // 2 if isinstance(value, str) else len(value)
        if not limits.get("min", 0) <= size <= limits.get("max", size):
            found.append(f"{path} has the length {size}")
    if (
        isinstance(value, str)
        and "pattern" in limits
        and not re.fullmatch(_SURROGATES.sub(r"\\U00010000-\\U0010FFFF", limits["pattern"]), value)
    ):
        found.append(f"{path} has another pattern")
    if isinstance(value, str) and limits.get("enum") and value not in limits["enum"]:
        found.append(f"{path} is none of its values")
    if shape.type_name == "structure":
        found += [problem for name, member in value.items() for problem in _limits(shape.members[name], member, f"{path}.{name}")]
    elif shape.type_name == "map":
        for name, member in value.items():
            found += [*_limits(shape.key, name, f"{path} key"), *_limits(shape.value, member, f"{path}[{name}]")]
    elif shape.type_name == "list":
        found += [problem for member in value for problem in _limits(shape.member, member, f"{path}[]")]
    return found
