"""The classes of a target: spellings joined, doubtful ones named."""
