"""Files and frames as streams of record batches, and files written again."""
