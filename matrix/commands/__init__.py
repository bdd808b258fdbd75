"""What the subcommands of the command line do; matrix/__main__.py only declares them."""
