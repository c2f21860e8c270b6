"""A producer written with the stock OpenLineage client: `emit.py JOB`. Where the events go is told by the environment alone."""

import json
import logging
import os
import sys
from datetime import datetime, timezone

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    error_message_run,
    nominal_time_run,
    output_statistics_output_dataset,
    schema_dataset,
)
from openlineage.client.uuid import generate_new_uuid

PRODUCER = "https://example.org/daily-sales"


def schema(**fields: str) -> schema_dataset.SchemaDatasetFacet:
    return schema_dataset.SchemaDatasetFacet(fields=[schema_dataset.SchemaDatasetFacetFields(name, kind) for name, kind in fields.items()])


def main(job: str) -> None:
    namespace = f"db://{job}"
    orders = InputDataset(namespace, "orders", facets={"schema": schema(id="INT", amount="DECIMAL(10,2)")})
    rates = InputDataset(namespace, "währungskurse", facets={"schema": schema(currency="TEXT", rate="DOUBLE")})
    amount = column_lineage_dataset.InputField(
        namespace, "orders", "amount", [column_lineage_dataset.Transformation("DIRECT", "AGGREGATION", masking=False)]
    )
    columns = column_lineage_dataset.ColumnLineageDatasetFacet({"revenue": column_lineage_dataset.Fields([amount])})
    sales = OutputDataset(
        namespace,
        "daily_sales",
        facets={"schema": schema(day="DATE", revenue="DOUBLE"), "columnLineage": columns},
        outputFacets={"outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=2, size=64)},
    )
    nominal = nominal_time_run.NominalTimeRunFacet("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z")
    run = Run(str(generate_new_uuid()), facets={"nominalTime": nominal})
    failed = Run(str(generate_new_uuid()), facets={"errorMessage": error_message_run.ErrorMessageRunFacet("no space left", "python")})

    if os.environ.get("OPENLINEAGE__TRANSPORT__TYPE") == "console":
        # This transport writes to the log, which shows nothing of this level by default.
        logging.basicConfig(level=logging.INFO, format="%(message)s")
    client = OpenLineageClient()
    client.emit(event(RunState.START, run, job, inputs=[orders, rates]))
    client.emit(event(RunState.COMPLETE, run, job, outputs=[sales]))
    client.emit(event(RunState.FAIL, failed, job))
    assert client.close()
    config = str(getattr(client.transport, "config", ""))
    sys.stdout.write(json.dumps({"run": run.runId, "failed": failed.runId, "transport": client.transport.kind, "config": config}))


def event(
    state: RunState, run: Run, job: str, inputs: list[InputDataset] | None = None, outputs: list[OutputDataset] | None = None
) -> RunEvent:
    time = datetime.now(timezone.utc).isoformat()
    return RunEvent(
        eventType=state, eventTime=time, run=run, job=Job("sales", job), inputs=inputs or [], outputs=outputs or [], producer=PRODUCER
    )


if __name__ == "__main__":
    main(sys.argv[1])
