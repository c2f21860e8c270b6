"""The command line. There is one file for each command or group of commands."""
