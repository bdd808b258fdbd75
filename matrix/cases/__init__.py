"""Cases: one operation with its inputs and its right answer, gathered into one corpus per algorithm."""
