"""Helpers of all rooms."""
