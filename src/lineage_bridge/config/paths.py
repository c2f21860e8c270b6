"""The paths of an installation's files in its data folder."""

import os
from dataclasses import dataclass
from pathlib import Path

_PRIVATE = 0o077
"""The mode bits that no other user may have on a file."""


@dataclass(frozen=True)
class DataFolder:
    """The paths of the files in one data folder."""

    data_dir: Path

    def protect(self) -> None:
        """Create the folder with access for its user only, and set the umask of this process and its children to the same."""
        os.umask(_PRIVATE)
        self.data_dir.mkdir(parents=True, exist_ok=True)
        for path in (self.data_dir, self.log, self.archive, self.state, self.graph, self.secrets):
            if path.exists() and path.stat().st_uid == os.getuid() and path.stat().st_mode & _PRIVATE:
                path.chmod(path.stat().st_mode & ~_PRIVATE)

    @property
    def log(self) -> Path:
        """The folder of the event log's segments."""
        return self.data_dir / "log"

    @property
    def archive(self) -> Path:
        """The folder of the archive: records that inputs of the form stream have read."""
        return self.data_dir / "archive"

    @property
    def graph(self) -> Path:
        """The graph store."""
        return self.data_dir / "graph.db"

    @property
    def graph_suspect(self) -> Path:
        """Exists while the graph store is known to be damaged, until the pipeline has replaced it."""
        return self.data_dir / "graph.db.suspect"

    @property
    def graph_elsewhere(self) -> Path:
        """A file that exists while the graph is in PostgreSQL, and says where it is."""
        return self.data_dir / "graph.store"

    @property
    def graph_owner(self) -> Path:
        """The identity of this folder's log, for a graph in PostgreSQL. Backups lack it: a restored folder has another log."""
        return self.data_dir / "graph.owner"

    @property
    def replayed(self) -> Path:
        """The graph store that a replay computes, until it replaces `graph`."""
        return self.data_dir / "replay.db"

    @property
    def analysis(self) -> Path:
        """The findings of the last analysis of the whole graph."""
        return self.data_dir / "analysis.ndjson"

    @property
    def state(self) -> Path:
        """The state database: everything that is not computed from the log, such as keys and sources."""
        return self.data_dir / "state.db"

    @property
    def state_copy(self) -> Path:
        """The last intact copy of the state database."""
        return self.data_dir / "state.db.copy"

    @property
    def secrets(self) -> Path:
        """Sealed secrets, unless a variable names another file."""
        return self.data_dir / "secrets.sealed"

    @property
    def internal_key(self) -> Path:
        """The API key of LineageBridge's own processes, made at each start of the API."""
        return self.data_dir / "internal.key"

    @property
    def pipeline_lock(self) -> Path:
        """The lock that a running pipeline holds."""
        return self.data_dir / "pipeline.lock"

    @property
    def pipeline_status(self) -> Path:
        """The pipeline's status, written about every second."""
        return self.data_dir / "pipeline.json"

    @property
    def observe_lock(self) -> Path:
        """The lock that the process polling sources holds."""
        return self.data_dir / "observe.lock"

    @property
    def inputs_lock(self) -> Path:
        """The lock that the process reading inputs holds."""
        return self.data_dir / "inputs.lock"

    @property
    def inputs_report(self) -> Path:
        """The state of the inputs, written about every second by the process that reads them."""
        return self.data_dir / "inputs.json"

    @property
    def streams_report(self) -> Path:
        """The state of the inputs of the form stream, written about every second by the pipeline, which reads them."""
        return self.data_dir / "streams.json"

    @property
    def published(self) -> Path:
        """The folder below which targets write files."""
        return self.data_dir / "published"

    @property
    def publishing(self) -> Path:
        """The folder of the targets' locks, each held while a process publishes to its target."""
        return self.data_dir / "publishing"

    @property
    def publisher_lock(self) -> Path:
        """The lock that the process publishing continuously holds."""
        return self.data_dir / "publisher.lock"

    @property
    def followers_report(self) -> Path:
        """The state of continuous publishing for each target, written by its process."""
        return self.data_dir / "publisher.json"

    @property
    def turns(self) -> Path:
        """The folder with one lock for each source, which is held while the source is observed."""
        return self.data_dir / "observing"

    @property
    def serve_lock(self) -> Path:
        """The lock that a running supervisor holds."""
        return self.data_dir / "serve.lock"

    @property
    def serve_status(self) -> Path:
        """The file with the address of the server that holds `serve_lock`."""
        return self.data_dir / "serve.json"

    @property
    def spark(self) -> Path:
        """Spark's scratch folder; it can be deleted between runs."""
        return self.data_dir / "spark"

    @property
    def logs(self) -> Path:
        """The output of the programs that LineageBridge starts."""
        return self.data_dir / "logs"
