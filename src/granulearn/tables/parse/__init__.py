"""How texts are read: null tokens, numbers, dates and digit masks."""
