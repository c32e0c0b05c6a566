"""What could give a false all-clear: leaks, repeated rows, contradictions."""
