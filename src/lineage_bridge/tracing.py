"""Spans of OpenTelemetry: what a request, a batch, a poll or a publication did, and how long it took. Nothing is recorded until `start`.

OpenTelemetry is imported by `start` alone: it is an extra, and importing it takes longer than most commands.
"""

import atexit
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

from lineage_bridge.config.log_format import TRACE
from lineage_bridge.errors import ConfigError

TRACEPARENT: Final = "traceparent"
"""The header of W3C Trace Context that carries a span to another process."""
TRACES_PATH: Final = "/v1/traces"
"""The path, below a collector's address, at which it accepts spans by OTLP over HTTP."""
SpanKind: TypeAlias = Literal["INTERNAL", "SERVER", "CLIENT"]
Attributes: TypeAlias = Mapping[str, str | int | float | bool]
"""Attributes of a span. Their names are those of OpenTelemetry's semantic conventions, or begin with `lineage_bridge.`"""
_EXPORT_S: Final = 3.0
"""The longest time, in seconds, of one delivery to the collector with its retries. A process that ends delivers the spans that wait."""
_WAITING: Final = 2048
"""The maximum number of spans that wait for the collector; beyond it, the oldest are dropped."""
_AT_ONCE: Final = 1024


class TraceSpan:
    """A span of OpenTelemetry: a piece of work that is under way."""

    def __init__(self, recorded: Any = None) -> None:  # noqa: ANN401 - a span of OpenTelemetry, or None where none are recorded
        self._recorded = recorded

    def describe(self, name: str, attributes: Attributes) -> None:
        """Set the final name of the span, and record attributes."""
        if self._recorded is not None:
            self._recorded.update_name(name)
            self._recorded.set_attributes(attributes)

    def set(self, attributes: Attributes) -> None:
        """Record attributes."""
        if self._recorded is not None:
            self._recorded.set_attributes(attributes)

    def fail(self, kind: str) -> None:
        """Mark the work as failed. `kind` names an error or a status; messages are not recorded, because they quote users' data."""
        if self._recorded is not None:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415  # an extra

            self._recorded.set_status(StatusCode.ERROR)
            self._recorded.set_attribute("error.type", kind)


class _Tracing:
    """The tracer of this process, and the provider that exports its spans. Both are None until tracing is started."""

    tracer: Any = None
    provider: Any = None


_TRACING: Final = _Tracing()
_UNRECORDED: Final = TraceSpan()


def start(collector: str, share: float, program: str, version: str) -> None:
    """Record the spans of this process from now on, and send them to `collector`, the address of an OTLP receiver over HTTP.

    `share` is the share (0 to 1) of the traces that begin in this process to record. A trace that a caller has begun is recorded if the
    caller records it. The variables OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_CERTIFICATE and OTEL_RESOURCE_ATTRIBUTES are used.
    Raises ConfigError without the extra.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415  # an extra
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  # of the same extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415  # of the same extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415  # of the same extra
        from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio  # noqa: PLC0415  # of the same extra
    except ImportError as error:
        raise ConfigError("the setting `traces` needs OpenTelemetry", "install it with: pip install 'lineage-bridge[tracing]'") from error
    names = {"service.name": f"lineage-bridge-{program}", "service.namespace": "lineage-bridge", "service.version": version}
    provider = TracerProvider(ParentBasedTraceIdRatio(share), Resource.create(names), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=collector.rstrip("/") + TRACES_PATH, timeout=_EXPORT_S)
    sending = BatchSpanProcessor(exporter, max_queue_size=_WAITING, max_export_batch_size=_AT_ONCE)
    provider.add_span_processor(sending)
    _TRACING.provider, _TRACING.tracer = provider, provider.get_tracer("lineage_bridge", version)
    atexit.register(stop)


def stop() -> None:
    """Stop recording spans, and send the remaining ones. A collector that does not answer delays this by a few seconds at most."""
    provider, _TRACING.provider, _TRACING.tracer = _TRACING.provider, None, None
    if provider is not None:
        provider.shutdown()


def is_on() -> bool:
    """Whether this process records spans."""
    return _TRACING.tracer is not None


@contextmanager
def span(name: str, attributes: Attributes | None = None, *, kind: SpanKind = "INTERNAL", parent: str = "") -> Iterator[TraceSpan]:
    """Record a span for the duration of a `with` block, below the current span, or below `parent`, the text of a `traceparent` header.

    If the block raises, the span is marked as failed. Log lines written in the block name the trace and the span.
    """
    tracer = _TRACING.tracer
    if tracer is None:
        yield _UNRECORDED
        return
    from opentelemetry.trace import SpanKind as Kind  # noqa: PLC0415  # an extra
    from opentelemetry.trace import format_span_id, format_trace_id, use_span  # noqa: PLC0415  # of the same extra

    began = tracer.start_span(name, _context(parent), Kind[kind], attributes)
    of = began.get_span_context()
    named = TRACE.set((format_trace_id(of.trace_id), format_span_id(of.span_id)))
    with use_span(began, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        current = TraceSpan(began)
        try:
            yield current
        except BaseException as error:
            current.fail(type(error).__name__)
            raise
        finally:
            TRACE.reset(named)


def traceparent() -> str:
    """The `traceparent` header of the current span; empty if there is none."""
    if _TRACING.tracer is None:
        return ""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415  # an extra

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(TRACEPARENT, "")


def trace_headers() -> dict[str, str]:
    """The headers that make a request part of the current span; none if there is no span."""
    header = traceparent()
    return {TRACEPARENT: header} if header else {}


def _context(parent: str) -> Any:  # noqa: ANN401 - a context of OpenTelemetry
    """Parse a `traceparent` header to a context. Returns None, which stands for the current context, if the header is empty. An invalid
    header begins a new trace.
    """
    if not parent:
        return None
    from opentelemetry.context import Context  # noqa: PLC0415  # an extra
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415  # of the same extra

    return TraceContextTextMapPropagator().extract({TRACEPARENT: parent}, Context())
