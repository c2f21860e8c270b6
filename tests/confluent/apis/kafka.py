"""Kafka REST v3 of a cluster: topics and their configurations, groups of all kinds, lag where it is offered, links and mirrors."""

from typing import TYPE_CHECKING

from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.values import Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

DEFAULTS = {"compression.type": "producer", "max.message.bytes": "2097164", "min.insync.replicas": "2"}


class Rest:
    """The API of one cluster."""

    def __init__(self, cloud: "Cloud", cluster: Json) -> None:
        self.cloud, self.cluster = cloud, cluster
        self.id = cluster["id"]
        self.root = f"{cloud.url}/kafka-rest/{self.id}/kafka/v3/clusters/{self.id}"

    def answer(self, request: Request) -> Answer:  # noqa: PLR0911 - a return for each path
        """What a GET below the cluster answers."""
        match request.parts:
            case ():
                return Answer(200, self._told("KafkaCluster", "", cluster_id=self.id))
            case ("topics",):
                return self._list("KafkaTopic", "topics", [self._topic(one) for one in self._mine("topics")])
            case ("topics", "-", "configs"):
                configs = [config for one in self._mine("topics") for config in self._configs(one)]
                return self._list("KafkaTopicConfig", "topics/-/configs", configs)
            case ("topics", name, *rest):
                return self._of_topic(name, rest)
            case ("consumer-groups", *rest):
                return self._groups("consumer", rest, ("CLASSIC", "CONSUMER"))
            case ("share-groups", *rest):
                return self._groups("share", rest, ("SHARE",))
            case ("streams-groups", *rest):
                return self._groups("streams", rest, ("STREAMS",))
            case ("links", *rest):
                return self._links(rest, request)
            case ("acls",):
                return self._list("KafkaAcl", "acls", [])
        return error(404, "HTTP 404 Not Found", "kafka", 404)

    def _mine(self, member: str) -> list[Json]:
        return [one for one in self.cloud.organization[member] if one["cluster"] == self.id]

    def _told(self, kind: str, path: str, **more: object) -> Json:
        name = f"crn:///kafka={self.id}" + "".join(f"/{part}" for part in path.split("/") if part)
        return {"kind": kind, "metadata": {"self": f"{self.root}/{path}".rstrip("/"), "resource_name": name}, **more}

    def _list(self, kind: str, path: str, data: list[Json]) -> Answer:
        """A list, all of it: these are not paged."""
        return Answer(200, {"kind": f"{kind}List", "metadata": {"self": f"{self.root}/{path}", "next": None}, "data": data})

    def _related(self, path: str) -> Json:
        return {"related": f"{self.root}/{path}"}

    def _topic(self, one: Json) -> Json:
        path = f"topics/{one['topic_name']}"
        names = ("topic_name", "is_internal", "replication_factor", "partitions_count")
        links = {
            name: self._related(f"{path}/{place}")
            for name, place in (
                ("partitions", "partitions"),
                ("configs", "configs"),
                ("partition_reassignments", "partitions/-/reassignment"),
            )
        }
        return self._told("KafkaTopic", path, cluster_id=self.id, **{name: one[name] for name in names}, **links, authorized_operations=[])

    def _configs(self, one: Json) -> list[Json]:
        topic = one["topic_name"]
        every = [(name, value, False) for name, value in one["configs"].items()]
        every += [(name, value, True) for name, value in DEFAULTS.items() if name not in one["configs"]]
        return [
            self._told(
                "KafkaTopicConfig",
                f"topics/{topic}/configs/{name}",
                cluster_id=self.id,
                topic_name=topic,
                name=name,
                value=value,
                is_default=default,
                is_read_only=False,
                is_sensitive=False,
                source="DEFAULT_CONFIG" if default else "DYNAMIC_TOPIC_CONFIG",
                synonyms=[],
            )
            for name, value, default in every
        ]

    def _of_topic(self, name: str, rest: list[str]) -> Answer:
        one = next((one for one in self._mine("topics") if one["topic_name"] == name), None)
        if one is None:
            return error(404, "This server does not host this topic-partition.", "kafka", 40403)
        if not rest:
            return Answer(200, self._topic(one))
        if rest == ["configs"]:
            return self._list("KafkaTopicConfig", f"topics/{name}/configs", self._configs(one))
        return error(404, "HTTP 404 Not Found", "kafka", 404)

    def _groups(self, word: str, rest: list[str], types: tuple[str, ...]) -> Answer:  # noqa: PLR0911 - a return for each path
        mine = [one for one in self._mine("consumer_groups") if one["type"] in types]
        told = {"consumer": self._consumer_group, "share": self._share_group, "streams": self._streams_group}[word]
        if not rest:
            return self._list(f"Kafka{word.title()}Group", f"{word}-groups", [told(one) for one in mine])
        group = next((one for one in mine if one["group_id"] == rest[0]), None)
        if group is None:
            return error(404, f"Group {rest[0]} could not be found.", "kafka", 40403)
        match (word, rest[1:]):
            case (_, []):
                return Answer(200, told(group))
            case ("consumer" | "share", ["consumers"]):
                return self._consumers(group, word)
            case ("share", ["consumers", consumer, "assignments"]):
                return self._assignments(group, consumer)
            case ("consumer", ["lag-summary"]) | ("consumer", ["lags"]):
                return self._lag(group, rest[1])
            case ("streams", ["subtopologies"]):
                names = ("subtopology_id", "source_topics")
                path = f"streams-groups/{group['group_id']}/subtopologies"
                every = [
                    self._told(
                        "KafkaStreamsGroupSubtopology",
                        f"{path}/{one['subtopology_id']}",
                        cluster_id=self.id,
                        group_id=group["group_id"],
                        **{name: one[name] for name in names},
                    )
                    for one in group["subtopologies"]
                ]
                return self._list("KafkaStreamsGroupSubtopology", path, every)
            case ("streams", ["members"]):
                return self._members(group)
        return error(404, "HTTP 404 Not Found", "kafka", 404)

    def _consumer_group(self, one: Json) -> Json:
        path = f"consumer-groups/{one['group_id']}"
        links = {
            "coordinator": self._related("brokers/1"),
            "consumers": self._related(f"{path}/consumers"),
            "lag_summary": self._related(f"{path}/lag-summary"),
        }
        more = {"is_simple": one["is_simple"], "partition_assignor": one["partition_assignor"], "state": one["state"], "type": one["type"]}
        return self._told("KafkaConsumerGroup", path, cluster_id=self.id, consumer_group_id=one["group_id"], **more, **links)

    def _share_group(self, one: Json) -> Json:
        path = f"share-groups/{one['group_id']}"
        assigned = [tuple(pair) for member in one["members"] for pair in member["assigned"]]
        parts = [
            {
                "kind": "KafkaShareGroupTopicPartition",
                "topic_name": topic,
                "partition_id": at,
                "partition": self._related(f"topics/{topic}/partitions/{at}"),
            }
            for topic, at in (assigned or [(topic, part["partition"]) for topic, parts in one["offsets"].items() for part in parts])
        ]
        counts = {"consumer_count": len(one["members"]), "partition_count": len(assigned), "assigned_topic_partitions": parts}
        links = {"coordinator": self._related("brokers/1"), "consumers": self._related(f"{path}/consumers")}
        return self._told(
            "KafkaShareGroup", path, cluster_id=self.id, share_group_id=one["group_id"], state=one["state"], **counts, **links
        )

    def _streams_group(self, one: Json) -> Json:
        path = f"streams-groups/{one['group_id']}"
        counts = {
            "member_count": len(one["members"]),
            "subtopology_count": len(one["subtopologies"]),
            "group_epoch": 7,
            "topology_epoch": 0,
            "target_assignment_epoch": 7,
        }
        links = {"members": self._related(f"{path}/members"), "subtopologies": self._related(f"{path}/subtopologies")}
        return self._told("KafkaStreamsGroup", path, cluster_id=self.id, group_id=one["group_id"], state=one["state"], **counts, **links)

    def _consumers(self, group: Json, word: str) -> Answer:
        path = f"{word}-groups/{group['group_id']}/consumers"
        name = "consumer_group_id" if word == "consumer" else "group_id"
        told = []
        for one in group["members"]:
            place = f"{path}/{one['consumer_id']}"
            who = {name: group["group_id"], "consumer_id": one["consumer_id"], "client_id": one["client_id"]}
            kind = "KafkaConsumer" if word == "consumer" else "KafkaShareGroupConsumer"
            more = {"instance_id": one["instance_id"]} if word == "consumer" else {}
            told.append(self._told(kind, place, cluster_id=self.id, **who, **more, assignments=self._related(f"{place}/assignments")))
        return self._list("KafkaConsumer" if word == "consumer" else "KafkaShareGroupConsumer", path, told)

    def _assignments(self, group: Json, consumer: str) -> Answer:
        member = next((one for one in group["members"] if one["consumer_id"] == consumer), None)
        if member is None:
            return error(404, f"Consumer {consumer} could not be found.", "kafka", 40403)
        path = f"share-groups/{group['group_id']}/consumers/{consumer}/assignments"
        who = {"cluster_id": self.id, "group_id": group["group_id"], "consumer_id": consumer}
        told = [
            self._told(
                "KafkaShareGroupConsumerAssignment",
                f"{path}/{topic}/partitions/{at}",
                **who,
                topic_name=topic,
                partition_id=at,
                partition=self._related(f"topics/{topic}/partitions/{at}"),
            )
            for topic, at in member["assigned"]
        ]
        return self._list("KafkaShareGroupConsumerAssignment", path, told)

    def _members(self, group: Json) -> Answer:
        path = f"streams-groups/{group['group_id']}/members"
        told = [
            self._told(
                "KafkaStreamsGroupMember",
                f"{path}/{one['consumer_id']}",
                cluster_id=self.id,
                group_id=group["group_id"],
                member_id=one["consumer_id"],
                client_id=one["client_id"],
                instance_id="",
                process_id=one["consumer_id"],
                is_classic=False,
                member_epoch=7,
                topology_epoch=0,
            )
            for one in group["members"]
        ]
        return self._list("KafkaStreamsGroupMember", path, told)

    def _lag(self, group: Json, which: str) -> Answer:
        """The lag of a group: refused on Enterprise and Freight, not there on Basic and Standard."""
        if not self.cluster["lag_offered"]:
            if self.cluster["kind"] in ("Enterprise", "Freight"):
                return error(403, "Consumer lag is only available for dedicated clusters.", "kafka", 40301)
            return error(404, "HTTP 404 Not Found", "kafka", 404)
        readers = {tuple(pair): member for member in group["members"] for pair in member["assigned"]}
        path, rows = f"consumer-groups/{group['group_id']}/{which}", []
        for topic, parts in group["offsets"].items():
            for part in parts:
                member = readers.get((topic, part["partition"]), {"consumer_id": "", "client_id": "", "instance_id": None})
                lag = part["log_end_offset"] - part["current_offset"]
                who = {"consumer_id": member["consumer_id"], "instance_id": member["instance_id"], "client_id": member["client_id"]}
                where = {
                    "topic_name": topic,
                    "partition_id": part["partition"],
                    "current_offset": part["current_offset"],
                    "log_end_offset": part["log_end_offset"],
                    "lag": lag,
                }
                rows.append(
                    self._told(
                        "KafkaConsumerLag",
                        f"{path}/{topic}/partitions/{part['partition']}",
                        cluster_id=self.id,
                        consumer_group_id=group["group_id"],
                        **who,
                        **where,
                    )
                )
        if which == "lags":
            return self._list("KafkaConsumerLag", path, rows)
        most = max(rows, key=lambda row: row["lag"], default={})
        named = {
            f"max_lag_{key}": most.get(name)
            for key, name in (
                ("consumer_id", "consumer_id"),
                ("client_id", "client_id"),
                ("topic_name", "topic_name"),
                ("partition_id", "partition_id"),
            )
        }
        total = sum(row["lag"] for row in rows)
        return Answer(
            200,
            self._told(
                "KafkaConsumerGroupLagSummary",
                path,
                cluster_id=self.id,
                consumer_group_id=group["group_id"],
                max_lag=most.get("lag", 0),
                total_lag=total,
                **named,
            ),
        )

    def _links(self, rest: list[str], request: Request) -> Answer:
        mine = self._mine("cluster_links")
        if not rest:
            return self._list("KafkaLinkData", "links", [self._link(one) for one in mine])
        chosen = mine if rest[0] == "-" else [one for one in mine if one["link_name"] == rest[0]]
        if not chosen and rest[0] != "-":
            return error(404, f"Link {rest[0]} not found.", "kafka", 40403)
        if rest[1:] == ["mirrors"]:
            status = request.one("mirror_status").upper()
            told = [self._mirror(link, one) for link in chosen for one in link["mirrors"] if status in ("", one["mirror_status"])]
            return self._list("KafkaMirrorData", f"links/{rest[0]}/mirrors", told)
        return Answer(200, self._link(chosen[0])) if rest[0] != "-" and len(rest) == 1 else error(404, "HTTP 404 Not Found", "kafka", 404)

    def _link(self, one: Json) -> Json:
        names = ("link_name", "link_id", "source_cluster_id", "destination_cluster_id", "link_state")
        more = {"remote_cluster_id": one["source_cluster_id"], "topic_names": [mirror["mirror_topic_name"] for mirror in one["mirrors"]]}
        return self._told("KafkaLinkData", f"links/{one['link_name']}", cluster_id=self.id, **{name: one[name] for name in names}, **more)

    def _mirror(self, link: Json, one: Json) -> Json:
        lags = {
            "kind": "KafkaMirrorLags",
            "metadata": {"self": None},
            "items": [{"partition": 0, "lag": one["max_per_partition_lag"], "last_source_fetch_offset": 1000}],
        }
        names = ("source_topic_name", "mirror_topic_name", "mirror_status", "num_partitions", "state_time_ms", "max_per_partition_lag")
        path = f"links/{link['link_name']}/mirrors/{one['mirror_topic_name']}"
        return self._told("KafkaMirrorData", path, link_name=link["link_name"], **{name: one[name] for name in names}, mirror_lags=lags)


def answer(cloud: "Cloud", request: Request) -> Answer:
    """A request below `kafka-rest/{lkc}`; the cluster's id is in its path again."""
    id_, *rest = request.parts
    cluster = next((one for one in cloud.organization["kafka_clusters"] if one["id"] == id_), None)
    if cluster is None or rest[:4] != ["kafka", "v3", "clusters", id_]:
        return error(404, "Cluster not found.", "kafka", 40401)
    if request.method != "GET":
        return error(405, "HTTP 405 Method Not Allowed", "kafka", 405)
    return Rest(cloud, cluster).answer(request._replace(parts=tuple(rest[4:])))
