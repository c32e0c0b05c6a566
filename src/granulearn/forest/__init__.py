"""The ball forest: trees, splitter, posterior, explanation."""
