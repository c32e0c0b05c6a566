"""A table becomes a fitted model with honest scores and a card; a model predicts a table."""
