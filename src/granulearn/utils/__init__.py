"""What every room needs: files that appear whole or not at all."""
