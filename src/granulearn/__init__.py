"""Learning from tables whose labels cannot be fully trusted."""
