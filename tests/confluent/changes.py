"""Changes that happen to an organization while it is observed. Each modifies the organization in place."""

from tests.confluent.organization.values import Json, fields, token


def _one(organization: Json, member: str, **wanted: str) -> Json:
    return next(one for one in organization[member] if all(one[key] == value for key, value in wanted.items()))


def add_topic(organization: Json, cluster: str, name: str, columns: str = "") -> Json:
    """A new topic, without a schema."""
    told = {"cluster": cluster, "topic_name": name, "is_internal": False, "partitions_count": 3, "replication_factor": 3, "configs": {}}
    made: Json = {**told, "columns": fields(columns), "key_columns": []}
    organization["topics"].append(made)
    return made


def delete_topic(organization: Json, cluster: str, name: str) -> None:
    organization["topics"].remove(_one(organization, "topics", cluster=cluster, topic_name=name))


def connector_state(organization: Json, cluster: str, name: str, state: str, trace: str = "") -> None:
    """RUNNING, PAUSED or FAILED, with all tasks."""
    connector = _one(organization, "connectors", cluster=cluster, name=name)
    connector.update(state=state, trace=trace)
    for task in connector["tasks"]:
        task.update(state=state, trace=trace)


def delete_connector(organization: Json, cluster: str, name: str) -> None:
    """Delete a connector; its group stays, without members."""
    connector = _one(organization, "connectors", cluster=cluster, name=name)
    organization["connectors"].remove(connector)
    for group in organization["consumer_groups"]:
        if group["group_id"] == f"connect-{connector['id']}":
            group.update(members=[], state="EMPTY")


def reconfigure(organization: Json, cluster: str, name: str, **settings: str) -> None:
    """Change settings of a connector; `__` in a name stands for a dot."""
    connector = _one(organization, "connectors", cluster=cluster, name=name)
    connector["config"] |= {key.replace("__", "."): value for key, value in settings.items()}


def remake_connector(organization: Json, cluster: str, name: str) -> None:
    """Delete a connector and create it again under its name: it gets a new id."""
    connector = _one(organization, "connectors", cluster=cluster, name=name)
    connector["id"] = f"lcc-{token(connector['id'])}"


def statement_phase(organization: Json, environment: str, name: str, phase: str, detail: str = "") -> None:
    """RUNNING, STOPPED, FAILED..."""
    _one(organization, "statements", environment=environment, name=name).update(phase=phase, detail=detail, stopped=phase == "STOPPED")


def delete_statement(organization: Json, environment: str, name: str) -> None:
    organization["statements"].remove(_one(organization, "statements", environment=environment, name=name))


def delete_group(organization: Json, cluster: str, group: str) -> None:
    organization["consumer_groups"].remove(_one(organization, "consumer_groups", cluster=cluster, group_id=group))


def advance(organization: Json, by: int = 100) -> None:
    """Let time pass: offsets grow, nothing else changes."""
    for group in organization["consumer_groups"]:
        for partitions in group["offsets"].values():
            for one in partitions:
                one["current_offset"] += by
                one["log_end_offset"] += by
    for connector in organization["connectors"]:
        for one in connector["offsets"]:
            one["offset"] = {key: value + by for key, value in one["offset"].items()}
