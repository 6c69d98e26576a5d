"""The real OpenTelemetry SDK sends the events of a run to a receiver on loopback, over OTLP/HTTP."""

import json
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web
from tests.loopback.vendor_server import ServerThread

from polyjudge.cli import main
from polyjudge.reports.evaluation_events import EVENT_NAME, evaluation_events
from polyjudge.reports.run_rows import RunRows

messages = pytest.importorskip(
    "opentelemetry.proto.collector.logs.v1.logs_service_pb2", reason="the extra otel is not installed"
)
REPORT = Path(__file__).parents[1] / "golden" / "frameworks" / "pydantic-evals.json"


class Receiver:
    """Takes logs as an OpenTelemetry collector does."""

    port = 0

    def __init__(self, status=200):
        self.status = status
        self.requests = []

    def app(self):
        app = web.Application()
        app.router.add_post("/v1/logs", self._take)
        return app

    async def _take(self, request):
        assert request.headers["content-type"] == "application/x-protobuf"
        self.requests.append(messages.ExportLogsServiceRequest.FromString(await request.read()))
        return web.Response(body=messages.ExportLogsServiceResponse().SerializeToString(), status=self.status)

    @property
    def records(self):
        return [
            record
            for request in self.requests
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


@pytest.fixture
def receiver(monkeypatch):
    with ServerThread(Receiver()) as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{running.port}")
        yield running


def attributes(record):
    values = {each.key: each.value for each in record.attributes}
    return {name: getattr(value, value.WhichOneof("value")) for name, value in values.items()}


def test_each_verdict_and_failure_arrives_as_an_event(receiver, capsys):
    assert main(["report", str(REPORT), "--otel"]) == 0
    expected = [event.attributes for row in RunRows(REPORT) for event in evaluation_events(row)]
    assert [attributes(record) for record in receiver.records] == expected
    assert {record.event_name for record in receiver.records} == {EVENT_NAME}
    assert f"sent {len(expected)} events to the OpenTelemetry collector" in capsys.readouterr().err
    [resource] = [logs.resource for request in receiver.requests for logs in request.resource_logs]
    assert attributes(resource)["service.name"] == "polyjudge"


def test_an_event_belongs_to_the_span_that_the_row_names(receiver, tmp_path):
    span = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331"}
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"id": "a", "score": 3, **span}) + "\n", encoding="utf-8")
    assert main(["report", str(path), "--otel"]) == 0
    [record] = receiver.records
    assert (record.trace_id.hex(), record.span_id.hex()) == tuple(span.values())


def test_many_rows_are_sent_in_batches_and_only_those_that_the_filter_selects(receiver, tmp_path):
    path = tmp_path / "run.jsonl"
    rows = ({"id": str(n), "score": n % 5, "language": "fr" if n % 2 else "de"} for n in range(2400))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["report", str(path), "--filter", "language=fr", "--otel"]) == 0
    assert len(receiver.requests) == 3
    assert Counter(attributes(record)["polyjudge.language"] for record in receiver.records) == {"fr": 1200}


def test_events_that_are_not_accepted_are_an_error(receiver, capsys):
    receiver.status = 400
    assert main(["report", str(REPORT), "--otel"]) == 3
    assert "The OpenTelemetry collector did not accept the events." in capsys.readouterr().err
