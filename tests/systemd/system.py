"""The virtual machine's system: Debian, from where this machine's apt gets its own, with what the documentation asks of a host."""

import subprocess
from pathlib import Path

SUITE = "bookworm"
PACKAGES = "systemd-sysv,dbus,udev,iproute2,python3-venv,openjdk-17-jre-headless,linux-image-cloud-amd64,openssl,curl,procps"
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
DISK = "8G"
RUNS = """\
[Unit]
Requires=network-online.target
After=network-online.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'mount -o ro /dev/vdb /mnt && python3 /mnt/guest.py >/dev/ttyS1 2>&1'
ExecStopPost=/bin/systemctl --no-block poweroff
"""
NETWORK = "[Match]\\nType=ether\\n[Network]\\nDHCP=ipv4\\n"


def make_system(folder: Path) -> None:
    """A disk with Debian on it, its kernel and the kernel's first file system. Fails if mmdebstrap does, which has said why."""
    folder.mkdir()
    source = next(path for path in SOURCES if Path(path).is_file())
    (folder / "try.service").write_text(RUNS)
    hooks = [
        f"printf '{NETWORK}' > \"$1/etc/systemd/network/wired.network\"",
        f'cp "{folder}/try.service" "$1/etc/systemd/system/try.service"',
        'chroot "$1" systemctl enable systemd-networkd systemd-networkd-wait-online',
        f'cp -L "$1/vmlinuz" "$1/initrd.img" "{folder}"',
    ]
    options = [f"--customize-hook={hook}" for hook in hooks]
    disk = folder / "root.ext2"
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", *options, SUITE, disk, source], check=True)
    subprocess.run(["truncate", "--size", DISK, disk], check=True)
    subprocess.run(["/sbin/resize2fs", disk], check=True, stdout=subprocess.DEVNULL)
