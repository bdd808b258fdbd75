"""Run cells: guest, cases, oracle, verdict; and run one failure again."""
