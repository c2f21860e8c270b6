"""Kafka REST v3 of a cluster: topics and their configurations, groups of all kinds, lag where it is offered, links and mirrors."""

import zlib
from typing import TYPE_CHECKING

from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.resources import ORDERS
from tests.confluent.organization.values import Json

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

RULES = {ORDERS: (("orders", "LITERAL", "sa-ord3rs", "WRITE"), ("orders", "PREFIXED", "sa-fl1nk0", "READ"))}
"""Cluster to the access rules of its topics: name, kind of the name, account, operation."""
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
                return Answer(200, self._entry("KafkaCluster", "", cluster_id=self.id))
            case ("topics",):
                return self._list("KafkaTopic", "topics", [self._topic(topic) for topic in self._resources("topics")])
            case ("topics", "-", "configs"):
                configs = [config for topic in self._resources("topics") for config in self._configs(topic)]
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
                return self._rules(request)
        return error(404, "HTTP 404 Not Found", "kafka", 404)

    def _resources(self, member: str) -> list[Json]:
        return [entry for entry in self.cloud.organization[member] if entry["cluster"] == self.id]

    def _entry(self, kind: str, path: str, **more: object) -> Json:
        name = f"crn:///kafka={self.id}" + "".join(f"/{part}" for part in path.split("/") if part)
        return {"kind": kind, "metadata": {"self": f"{self.root}/{path}".rstrip("/"), "resource_name": name}, **more}

    def _rules(self, request: Request) -> Answer:
        """Access rules. Accounts are named by numbers that no other API knows, unless the filter asks for their ids."""
        has_ids = request.value("principal") == "UserV2:*"
        rules = [
            self._entry(
                "KafkaAcl",
                "acls",
                cluster_id=self.id,
                resource_type="TOPIC",
                resource_name=name,
                pattern_type=pattern,
                principal=f"User:{account if has_ids else zlib.crc32(account.encode())}",
                host="*",
                operation=operation,
                permission="ALLOW",
            )
            for name, pattern, account, operation in RULES.get(self.id, ())
        ]
        return self._list("KafkaAcl", "acls", rules)

    def _list(self, kind: str, path: str, data: list[Json]) -> Answer:
        """A list, all of it: these are not paged."""
        return Answer(200, {"kind": f"{kind}List", "metadata": {"self": f"{self.root}/{path}", "next": None}, "data": data})

    def _related(self, path: str) -> Json:
        return {"related": f"{self.root}/{path}"}

    def _topic(self, topic: Json) -> Json:
        path = f"topics/{topic['topic_name']}"
        names = ("topic_name", "is_internal", "replication_factor", "partitions_count")
        links = {
            name: self._related(f"{path}/{relation_path}")
            for name, relation_path in (
                ("partitions", "partitions"),
                ("configs", "configs"),
                ("partition_reassignments", "partitions/-/reassignment"),
            )
        }
        return self._entry(
            "KafkaTopic", path, cluster_id=self.id, **{name: topic[name] for name in names}, **links, authorized_operations=[]
        )

    def _configs(self, topic_: Json) -> list[Json]:
        topic = topic_["topic_name"]
        every = [(name, value, False) for name, value in topic_["configs"].items()]
        every += [(name, value, True) for name, value in DEFAULTS.items() if name not in topic_["configs"]]
        return [
            self._entry(
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
        topic = next((topic for topic in self._resources("topics") if topic["topic_name"] == name), None)
        if topic is None:
            return error(404, "This server does not host this topic-partition.", "kafka", 40403)
        if not rest:
            return Answer(200, self._topic(topic))
        if rest == ["configs"]:
            return self._list("KafkaTopicConfig", f"topics/{name}/configs", self._configs(topic))
        return error(404, "HTTP 404 Not Found", "kafka", 404)

    def _groups(self, kind: str, rest: list[str], types: tuple[str, ...]) -> Answer:  # noqa: PLR0911 - a return for each path
        groups = [group for group in self._resources("consumer_groups") if group["type"] in types]
        make_entry = {"consumer": self._consumer_group, "share": self._share_group, "streams": self._streams_group}[kind]
        if not rest:
            return self._list(f"Kafka{kind.title()}Group", f"{kind}-groups", [make_entry(group) for group in groups])
        group = next((group for group in groups if group["group_id"] == rest[0]), None)
        if group is None:
            return error(404, f"Group {rest[0]} could not be found.", "kafka", 40403)
        match (kind, rest[1:]):
            case (_, []):
                return Answer(200, make_entry(group))
            case ("consumer" | "share", ["consumers"]):
                return self._consumers(group, kind)
            case ("share", ["consumers", consumer, "assignments"]):
                return self._assignments(group, consumer)
            case ("consumer", ["lag-summary"]) | ("consumer", ["lags"]):
                return self._lag(group, rest[1])
            case ("streams", ["subtopologies"]):
                names = ("subtopology_id", "source_topics")
                path = f"streams-groups/{group['group_id']}/subtopologies"
                every = [
                    self._entry(
                        "KafkaStreamsGroupSubtopology",
                        f"{path}/{subtopology['subtopology_id']}",
                        cluster_id=self.id,
                        group_id=group["group_id"],
                        **{name: subtopology[name] for name in names},
                    )
                    for subtopology in group["subtopologies"]
                ]
                return self._list("KafkaStreamsGroupSubtopology", path, every)
            case ("streams", ["members"]):
                return self._members(group)
        return error(404, "HTTP 404 Not Found", "kafka", 404)

    def _consumer_group(self, group: Json) -> Json:
        path = f"consumer-groups/{group['group_id']}"
        links = {
            "coordinator": self._related("brokers/1"),
            "consumers": self._related(f"{path}/consumers"),
            "lag_summary": self._related(f"{path}/lag-summary"),
        }
        more = {
            "is_simple": group["is_simple"],
            "partition_assignor": group["partition_assignor"],
            "state": group["state"],
            "type": group["type"],
        }
        return self._entry("KafkaConsumerGroup", path, cluster_id=self.id, consumer_group_id=group["group_id"], **more, **links)

    def _share_group(self, group: Json) -> Json:
        path = f"share-groups/{group['group_id']}"
        assigned = [tuple(pair) for member in group["members"] for pair in member["assigned"]]
        parts = [
            {
                "kind": "KafkaShareGroupTopicPartition",
                "metadata": {"self": None},
                "topic_name": topic,
                "partition_id": at,
                "partition": self._related(f"topics/{topic}/partitions/{at}"),
            }
            for topic, at in (assigned or [(topic, part["partition"]) for topic, parts in group["offsets"].items() for part in parts])
        ]
        counts = {"consumer_count": len(group["members"]), "partition_count": len(assigned), "assigned_topic_partitions": parts}
        links = {"coordinator": self._related("brokers/1"), "consumers": self._related(f"{path}/consumers")}
        return self._entry(
            "KafkaShareGroup", path, cluster_id=self.id, share_group_id=group["group_id"], state=group["state"], **counts, **links
        )

    def _streams_group(self, group: Json) -> Json:
        path = f"streams-groups/{group['group_id']}"
        counts = {
            "member_count": len(group["members"]),
            "subtopology_count": len(group["subtopologies"]),
            "group_epoch": 7,
            "topology_epoch": 0,
            "target_assignment_epoch": 7,
        }
        links = {"members": self._related(f"{path}/members"), "subtopologies": self._related(f"{path}/subtopologies")}
        return self._entry(
            "KafkaStreamsGroup", path, cluster_id=self.id, group_id=group["group_id"], state=group["state"], **counts, **links
        )

    def _consumers(self, group: Json, kind: str) -> Answer:
        path = f"{kind}-groups/{group['group_id']}/consumers"
        name = "consumer_group_id" if kind == "consumer" else "group_id"
        entries = []
        for member in group["members"]:
            consumer_path = f"{path}/{member['consumer_id']}"
            identity = {name: group["group_id"], "consumer_id": member["consumer_id"], "client_id": member["client_id"]}
            type_name = "KafkaConsumer" if kind == "consumer" else "KafkaShareGroupConsumer"
            more = {"instance_id": member["instance_id"]} if kind == "consumer" else {}
            entries.append(
                self._entry(
                    type_name,
                    consumer_path,
                    cluster_id=self.id,
                    **identity,
                    **more,
                    assignments=self._related(f"{consumer_path}/assignments"),
                )
            )
        return self._list("KafkaConsumer" if kind == "consumer" else "KafkaShareGroupConsumer", path, entries)

    def _assignments(self, group: Json, consumer: str) -> Answer:
        member = next((entry for entry in group["members"] if entry["consumer_id"] == consumer), None)
        if member is None:
            return error(404, f"Consumer {consumer} could not be found.", "kafka", 40403)
        path = f"share-groups/{group['group_id']}/consumers/{consumer}/assignments"
        identity = {"cluster_id": self.id, "group_id": group["group_id"], "consumer_id": consumer}
        entries = [
            self._entry(
                "KafkaShareGroupConsumerAssignment",
                f"{path}/{topic}/partitions/{at}",
                **identity,
                topic_name=topic,
                partition_id=at,
                partition=self._related(f"topics/{topic}/partitions/{at}"),
            )
            for topic, at in member["assigned"]
        ]
        return self._list("KafkaShareGroupConsumerAssignment", path, entries)

    def _members(self, group: Json) -> Answer:
        path = f"streams-groups/{group['group_id']}/members"
        entries = [
            self._entry(
                "KafkaStreamsGroupMember",
                f"{path}/{member['consumer_id']}",
                cluster_id=self.id,
                group_id=group["group_id"],
                member_id=member["consumer_id"],
                client_id=member["client_id"],
                instance_id="",
                process_id=member["consumer_id"],
                is_classic=False,
                member_epoch=7,
                topology_epoch=0,
            )
            for member in group["members"]
        ]
        return self._list("KafkaStreamsGroupMember", path, entries)

    def _lag(self, group: Json, which: str) -> Answer:
        """The lag of a group: refused on Enterprise and Freight, missing on Basic and Standard."""
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
                identity = {"consumer_id": member["consumer_id"], "instance_id": member["instance_id"], "client_id": member["client_id"]}
                identifiers = {
                    "topic_name": topic,
                    "partition_id": part["partition"],
                    "current_offset": part["current_offset"],
                    "log_end_offset": part["log_end_offset"],
                    "lag": lag,
                }
                rows.append(
                    self._entry(
                        "KafkaConsumerLag",
                        f"{path}/{topic}/partitions/{part['partition']}",
                        cluster_id=self.id,
                        consumer_group_id=group["group_id"],
                        **identity,
                        **identifiers,
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
            self._entry(
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
        links = self._resources("cluster_links")
        if not rest:
            return self._list("KafkaLinkData", "links", [self._link(link) for link in links])
        chosen = links if rest[0] == "-" else [link for link in links if link["link_name"] == rest[0]]
        if not chosen and rest[0] != "-":
            return error(404, f"Link {rest[0]} not found.", "kafka", 40403)
        if rest[1:] == ["mirrors"]:
            status = request.value("mirror_status").upper()
            mirrors = [
                self._mirror(link, mirror) for link in chosen for mirror in link["mirrors"] if status in ("", mirror["mirror_status"])
            ]
            return self._list("KafkaMirrorData", f"links/{rest[0]}/mirrors", mirrors)
        return Answer(200, self._link(chosen[0])) if rest[0] != "-" and len(rest) == 1 else error(404, "HTTP 404 Not Found", "kafka", 404)

    def _link(self, link: Json) -> Json:
        names = ("link_name", "source_cluster_id", "destination_cluster_id", "link_state")
        more = {
            "cluster_link_id": link["link_id"],
            "remote_cluster_id": link["source_cluster_id"],
            "topic_names": [mirror["mirror_topic_name"] for mirror in link["mirrors"]],
        }
        return self._entry("KafkaLinkData", f"links/{link['link_name']}", **{name: link[name] for name in names}, **more)

    def _mirror(self, link: Json, mirror: Json) -> Json:
        lags = [{"partition": 0, "lag": mirror["max_per_partition_lag"], "last_source_fetch_offset": 1000}]
        names = ("source_topic_name", "mirror_topic_name", "mirror_status", "num_partitions", "state_time_ms")
        path = f"links/{link['link_name']}/mirrors/{mirror['mirror_topic_name']}"
        return self._entry("KafkaMirrorData", path, link_name=link["link_name"], **{name: mirror[name] for name in names}, mirror_lags=lags)


def answer(cloud: "Cloud", request: Request) -> Answer:
    """A request below `kafka-rest/{lkc}`; the cluster's id is in its path again."""
    id_, *rest = request.parts
    cluster = next((cluster for cluster in cloud.organization["kafka_clusters"] if cluster["id"] == id_), None)
    if cluster is None or rest[:4] != ["kafka", "v3", "clusters", id_]:
        return error(404, "Cluster not found.", "kafka", 40401)
    if request.method != "GET":
        return error(405, "HTTP 405 Method Not Allowed", "kafka", 405)
    return Rest(cloud, cluster).answer(request._replace(parts=tuple(rest[4:])))
