"""What the subcommands of the command line do; matrix/command_line.py only declares them."""
