"""Starts the documentation's systemd unit in a virtual machine: `python -m tests.systemd`.

The machine is made of Debian's packages, from where this machine's apt gets its own, and of this checkout's wheels. It has no way out.
Needs the packages `qemu-system-x86`, `mmdebstrap`, `genext2fs` and `e2fsprogs`.
The processor is emulated; `python -m tests.systemd kvm` uses the machine's own.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.servers import archives
from tests.systemd import system

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PAGE = ROOT / "docs" / "security.md"
MEMORY_MB = "4096"
BLOCKS = {
    "install.sh": ("sh", "useradd"),
    "lineage-bridge.toml": ("toml", "run/credentials"),
    "lineage-bridge.service": ("ini", "[Unit]"),
}
"""Files of the second disk, and the language and a part of the one block of the page that each is."""


def block(language: str, part: str) -> str:
    """The one block of the page in a language that has a part. Raises ValueError if there is none, or several."""
    (found,) = [text for text in re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL) if part in text]
    return str(found)


def make_seed(folder: Path, disk: Path) -> None:
    """A second disk: the wheels of this checkout, the page's blocks, and what is tried."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder / "wheels")]
    subprocess.run([*pip, "--require-hashes", "--requirement", str(ROOT / "requirements" / "run.txt")], check=True)
    subprocess.run([*pip, str(ROOT)], check=True)
    for name, (language, part) in BLOCKS.items():
        (folder / name).write_text(block(language, part), encoding="utf-8")
    shutil.copy(HERE / "guest.py", folder)
    subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", "-d", folder, disk, "1G"], check=True)


def boot(made: Path, seed: Path, scratch: Path, accelerator: str = "tcg") -> bool:
    """Runs the machine until it turns itself off; whether all held. What it tries is printed."""
    stated = scratch / "stated"
    command = ["qemu-system-x86_64", "-accel", accelerator, "-cpu", "max", "-m", MEMORY_MB, "-smp", "2", "-nographic", "-no-reboot"]
    files = ["-kernel", str(made / "vmlinuz"), "-initrd", str(made / "initrd.img")]
    line = ["-append", "root=/dev/vda rw console=ttyS0 panic=-1 systemd.wants=try.service"]
    disks = [
        "-drive",
        f"file={made / 'root.ext2'},format=raw,if=virtio,snapshot=on",
        "-drive",
        f"file={seed},format=raw,if=virtio,readonly=on",
    ]
    other = ["-nic", "user,model=virtio-net-pci,restrict=on", "-monitor", "none"]
    serial = ["-serial", f"file:{scratch / 'console'}", "-serial", f"file:{stated}"]
    with subprocess.Popen([*command, *files, *line, *disks, *other, *serial], stdin=subprocess.DEVNULL) as machine:
        machine.wait()
    text = stated.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    sys.stdout.write(text or (scratch / "console").read_text(errors="replace")[-4000:])
    return "\nHOLDS\n" in text


def main() -> int:
    """Returns 0 if all held."""
    # Debian's part is kept in the user's cache, by what it is made from.
    made = archives.made("unit", [Path(system.__file__)], system.make_system)
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-unit-") as name:
        scratch = Path(name)
        (scratch / "seed").mkdir()
        make_seed(scratch / "seed", scratch / "seed.ext4")
        return 0 if boot(made, scratch / "seed.ext4", scratch, *sys.argv[1:]) else 1


if __name__ == "__main__":
    sys.exit(main())
