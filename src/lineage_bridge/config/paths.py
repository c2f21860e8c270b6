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
        """The folder with the segments of the event log."""
        return self.data_dir / "log"

    @property
    def archive(self) -> Path:
        """The folder of the archive, with the records that inputs of the form `stream` have read."""
        return self.data_dir / "archive"

    @property
    def graph(self) -> Path:
        """The file of the graph store."""
        return self.data_dir / "graph.db"

    @property
    def graph_suspect(self) -> Path:
        """A marker file. It is created when the graph store is found to be damaged, and removed once the pipeline has replaced the
        store.
        """
        return self.data_dir / "graph.db.suspect"

    @property
    def graph_elsewhere(self) -> Path:
        """A file that exists while the graph is in PostgreSQL. It contains the database's address."""
        return self.data_dir / "graph.store"

    @property
    def graph_owner(self) -> Path:
        """A file with the identity of this folder's log, for a graph in PostgreSQL. Backups do not contain it, because a restored
        folder has another log.
        """
        return self.data_dir / "graph.owner"

    @property
    def replayed(self) -> Path:
        """The file of the graph store that a replay computes. At the end it replaces the file `graph`."""
        return self.data_dir / "replay.db"

    @property
    def analysis(self) -> Path:
        """The file with the findings of the last analysis of the whole graph."""
        return self.data_dir / "analysis.ndjson"

    @property
    def state(self) -> Path:
        """The file of the state database, which has everything that is not computed from the log, such as keys and sources."""
        return self.data_dir / "state.db"

    @property
    def state_copy(self) -> Path:
        """The file with the last intact copy of the state database."""
        return self.data_dir / "state.db.copy"

    @property
    def secrets(self) -> Path:
        """The file of sealed secrets, unless a variable names another one."""
        return self.data_dir / "secrets.sealed"

    @property
    def erasing(self) -> Path:
        """The folder with a file for each requested erasure that is not finished."""
        return self.data_dir / "erasing"

    @property
    def internal_key(self) -> Path:
        """The file with the API key of LineageBridge's own processes, which is written at each start of the API."""
        return self.data_dir / "internal.key"

    @property
    def pipeline_lock(self) -> Path:
        """The lock file of a running pipeline."""
        return self.data_dir / "pipeline.lock"

    @property
    def pipeline_status(self) -> Path:
        """The file with the pipeline's status, which is written about every second."""
        return self.data_dir / "pipeline.json"

    @property
    def observe_lock(self) -> Path:
        """The lock file of the process that polls sources."""
        return self.data_dir / "observe.lock"

    @property
    def inputs_lock(self) -> Path:
        """The lock file of the process that reads inputs."""
        return self.data_dir / "inputs.lock"

    @property
    def inputs_report(self) -> Path:
        """The file with the state of the inputs, which the process that reads them writes about every second."""
        return self.data_dir / "inputs.json"

    @property
    def streams_report(self) -> Path:
        """The file with the state of the inputs of the form `stream`. The pipeline reads these inputs, and writes the file about every
        second.
        """
        return self.data_dir / "streams.json"

    @property
    def published(self) -> Path:
        """The folder below which targets write files."""
        return self.data_dir / "published"

    @property
    def publishing(self) -> Path:
        """The folder with a lock for each target. A process holds it while it publishes to the target."""
        return self.data_dir / "publishing"

    @property
    def publisher_lock(self) -> Path:
        """The lock file of the process that publishes continuously."""
        return self.data_dir / "publisher.lock"

    @property
    def followers_report(self) -> Path:
        """The file with the state of continuous publishing for each target. The process that publishes continuously writes it."""
        return self.data_dir / "publisher.json"

    @property
    def turns(self) -> Path:
        """The folder with a lock for each source. A process holds it while it observes the source."""
        return self.data_dir / "observing"

    @property
    def serve_lock(self) -> Path:
        """The lock file of a running supervisor."""
        return self.data_dir / "serve.lock"

    @property
    def serve_status(self) -> Path:
        """The file with the address of the server that holds `serve_lock`."""
        return self.data_dir / "serve.json"

    @property
    def spark(self) -> Path:
        """The folder for Spark's temporary files. It can be deleted while no pipeline runs."""
        return self.data_dir / "spark"

    @property
    def logs(self) -> Path:
        """The folder with the output of the programs that LineageBridge starts."""
        return self.data_dir / "logs"
