"""What two people decided about one table."""

HEAD = "row,given_label,decision,new_label,who,when\n"
ANN = HEAD + (
    "1,no,change,yes,ann,2026-01-01T10:00:00+00:00\n"
    "2,yes,keep,,ann,2026-01-01T10:00:00+00:00\n"
    "3,no,unsure,,ann,2026-01-01T10:00:00+00:00\n"
)
BEN = HEAD + (
    "2,yes,change,no,ben,2026-01-01T11:00:00+00:00\n"
    "3,no,keep,,ben,2026-01-01T11:00:00+00:00\n"
    "4,no,exclude,,ben,2026-01-01T11:00:00+00:00\n"
)
