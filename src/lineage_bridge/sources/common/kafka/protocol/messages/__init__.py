"""Messages of Kafka's protocol that the clients do not implement, after Kafka's published definitions: descriptions of groups of the newer
kinds.

KIP-848 (consumer groups), KIP-932 (share groups), KIP-1071 (streams groups).
"""

import sys
from typing import Any

from kafka.protocol.api_message import ApiMessage

_HERE = sys.modules[__name__]


def _message(name: str) -> Any:  # noqa: ANN401  # a class built from the message's definition
    return type(ApiMessage)(name, (ApiMessage,), {"__module__": __name__}, load_json=_HERE)


ConsumerGroupDescribeRequest = _message("ConsumerGroupDescribeRequest")
ConsumerGroupDescribeResponse = _message("ConsumerGroupDescribeResponse")
DescribeShareGroupOffsetsRequest = _message("DescribeShareGroupOffsetsRequest")
DescribeShareGroupOffsetsResponse = _message("DescribeShareGroupOffsetsResponse")
ShareGroupDescribeRequest = _message("ShareGroupDescribeRequest")
ShareGroupDescribeResponse = _message("ShareGroupDescribeResponse")
StreamsGroupDescribeRequest = _message("StreamsGroupDescribeRequest")
StreamsGroupDescribeResponse = _message("StreamsGroupDescribeResponse")
