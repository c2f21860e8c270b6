"""Changes to an organization while it is observed. Each modifies the organization in place."""

from tests.confluent.organization.values import Json, fields, token


def _find(organization: Json, member: str, **members: str) -> Json:
    return next(entry for entry in organization[member] if all(entry[key] == value for key, value in members.items()))


def add_topic(organization: Json, cluster: str, name: str, columns: str = "") -> Json:
    """A new topic, without a schema."""
    members = {"cluster": cluster, "topic_name": name, "is_internal": False, "partitions_count": 3, "replication_factor": 3, "configs": {}}
    topic: Json = {**members, "columns": fields(columns), "key_columns": []}
    organization["topics"].append(topic)
    return topic


def delete_topic(organization: Json, cluster: str, name: str) -> None:
    organization["topics"].remove(_find(organization, "topics", cluster=cluster, topic_name=name))


def connector_state(organization: Json, cluster: str, name: str, state: str, trace: str = "") -> None:
    """RUNNING, PAUSED or FAILED, with all tasks."""
    connector = _find(organization, "connectors", cluster=cluster, name=name)
    connector.update(state=state, trace=trace)
    for task in connector["tasks"]:
        task.update(state=state, trace=trace)


def delete_connector(organization: Json, cluster: str, name: str) -> None:
    """Delete a connector; its group stays, without members."""
    connector = _find(organization, "connectors", cluster=cluster, name=name)
    organization["connectors"].remove(connector)
    for group in organization["consumer_groups"]:
        if group["group_id"] == f"connect-{connector['id']}":
            group.update(members=[], state="EMPTY")


def reconfigure(organization: Json, cluster: str, name: str, **settings: str) -> None:
    """Change settings of a connector; `__` in a name stands for a dot."""
    connector = _find(organization, "connectors", cluster=cluster, name=name)
    connector["config"] |= {key.replace("__", "."): value for key, value in settings.items()}


def remake_connector(organization: Json, cluster: str, name: str) -> None:
    """Delete a connector and create it again under its name: it gets a new id."""
    connector = _find(organization, "connectors", cluster=cluster, name=name)
    connector["id"] = f"lcc-{token(connector['id'])}"


def statement_phase(organization: Json, environment: str, name: str, phase: str, detail: str = "") -> None:
    """RUNNING, STOPPED, FAILED..."""
    _find(organization, "statements", environment=environment, name=name).update(phase=phase, detail=detail, stopped=phase == "STOPPED")


def delete_statement(organization: Json, environment: str, name: str) -> None:
    organization["statements"].remove(_find(organization, "statements", environment=environment, name=name))


def delete_group(organization: Json, cluster: str, group: str) -> None:
    organization["consumer_groups"].remove(_find(organization, "consumer_groups", cluster=cluster, group_id=group))


def advance(organization: Json, by: int = 100) -> None:
    """Let time pass: offsets grow, nothing else changes."""
    for group in organization["consumer_groups"]:
        for partitions in group["offsets"].values():
            for partition in partitions:
                partition["current_offset"] += by
                partition["log_end_offset"] += by
    for connector in organization["connectors"]:
        for offset in connector["offsets"]:
            offset["offset"] = {key: value + by for key, value in offset["offset"].items()}
