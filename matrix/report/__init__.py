"""What a run leaves behind: journal, ledger, grid, failure files."""
