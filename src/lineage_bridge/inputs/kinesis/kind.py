"""The kind of inputs that read streams of Kinesis. The kind can be listed even if the AWS SDK is not installed."""

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.input import Input, InputKind
from lineage_bridge.inputs.kinesis.settings import KinesisInputSettings


def make(name: str, settings: KinesisInputSettings, installation: str = "") -> Input[KinesisInputSettings]:
    """Create an input. Raises ConfigError without the optional dependencies."""
    try:
        from lineage_bridge.inputs.kinesis.kinesis_input import KinesisInput  # noqa: PLC0415  # optional dependencies
    except ImportError as error:
        raise ConfigError("inputs of kind kinesis require other packages", "install it with: pip install 'lineage-bridge[aws]'") from error
    return KinesisInput(name, settings, installation)


KIND = InputKind(KinesisInputSettings, make, "events in a stream of Amazon Kinesis", "kinesis")
