"""Send the rows of a run to an OpenTelemetry collector."""

import os
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from polyjudge.errors import ProviderError
from polyjudge.extras import require
from polyjudge.reports.evaluation_events import EVENT_NAME, evaluation_events
from polyjudge.reports.run_rows import RunRow
from polyjudge.version import __version__

_FEATURE = "sending OpenTelemetry events"
_MOST_AT_ONCE = 512
_SERVICE = "OTEL_SERVICE_NAME"


class _Exported:
    """A processor that exports each full batch at once, and raises if the collector does not take it."""

    def __init__(self, exporter: Any, success: object) -> None:
        self.count = 0
        self._exporter, self._success = exporter, success
        self._waiting: list[Any] = []

    def on_emit(self, log_record: Any) -> None:
        self._waiting.append(log_record)
        if len(self._waiting) >= _MOST_AT_ONCE:
            self.force_flush()

    def force_flush(self, timeout_millis: int = 0) -> bool:  # noqa: ARG002 - it is called with a time
        if self._waiting and self._exporter.export(self._waiting) != self._success:
            where = (
                "Check that it is running; OTEL_EXPORTER_OTLP_ENDPOINT sets its address (default: "
                "http://localhost:4318)."
            )
            raise ProviderError(f"The OpenTelemetry collector did not accept the events. {where}")
        self.count += len(self._waiting)
        self._waiting.clear()
        return True

    def shutdown(self) -> None:
        self._exporter.shutdown()


def send_events(rows: Iterable[RunRow]) -> int:
    """Send the events of rows over OTLP, and return their number; OTEL_… variables say where and how."""
    logs = require("opentelemetry.sdk._logs", feature=_FEATURE, extra="otel")
    exporting = require("opentelemetry.sdk._logs.export", feature=_FEATURE, extra="otel")
    resources = require("opentelemetry.sdk.resources", feature=_FEATURE, extra="otel")
    otlp = require("opentelemetry.exporter.otlp.proto.http._log_exporter", feature=_FEATURE, extra="otel")
    exported = _Exported(otlp.OTLPLogExporter(), exporting.LogRecordExportResult.SUCCESS)
    own = {} if os.environ.get(_SERVICE) else {"service.name": "polyjudge"}
    provider = logs.LoggerProvider(resource=resources.Resource.create(own), shutdown_on_exit=False)
    provider.add_log_record_processor(exported)
    logger = provider.get_logger("polyjudge", __version__)
    try:
        for row in rows:
            _emit(logger, row)
        exported.force_flush()
    finally:
        provider.shutdown()
    return exported.count


def _emit(logger: Any, row: RunRow) -> None:
    """Emit the events of a row, in the context of the call that wrote the output if it is known."""
    answered_at = row.provenance.answered_at if row.provenance else ""
    timestamp = int(datetime.fromisoformat(answered_at).timestamp() * 1e9) if answered_at else None
    api = require("opentelemetry._logs", feature=_FEATURE, extra="otel")
    trace = require("opentelemetry.trace", feature=_FEATURE, extra="otel")
    for event in evaluation_events(row):
        span: dict[str, Any] = {}
        if event.trace_id and event.span_id:
            ids = {"trace_id": int(event.trace_id, 16), "span_id": int(event.span_id, 16)}
            parent = trace.SpanContext(**ids, is_remote=True, trace_flags=trace.TraceFlags(1))
            span = {"context": trace.set_span_in_context(trace.NonRecordingSpan(parent))}
        record = api.LogRecord(
            timestamp=timestamp,
            event_name=EVENT_NAME,
            attributes=event.attributes,
            severity_number=api.SeverityNumber.INFO,
            **span,
        )
        logger.emit(record)
