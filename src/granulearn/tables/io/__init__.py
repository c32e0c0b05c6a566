"""Any file or frame as a stream of record batches, each cell as it was written."""
