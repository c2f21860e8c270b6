"""Runs the systemd unit of the documentation in a virtual machine: `make systemd`."""
