"""What cells mean: one survey, one schema, one reading."""
