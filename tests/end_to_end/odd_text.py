"""Tables as text that are odd: encodings, quotes, rows, columns, control characters."""

from __future__ import annotations

from tests.end_to_end.odd_tables import LINES, OK, REFUSED, TEXT, odd, with_header, with_line

COLOURED = TEXT.replace("blue", "blüe")

# Encodings.
for encoding in (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252",
    "cp437", "cp850", "mac-roman", "iso-8859-15",
):  # fmt: skip
    odd(f"text in {encoding}", "t.csv", COLOURED.encode(encoding), OK)
for encoding, word in (
    ("shift_jis", "あお"), ("euc-jp", "あお"), ("gb18030", "蓝色"), ("big5", "藍色"),
    ("euc-kr", "파랑"), ("koi8-r", "синий"), ("cp1251", "синий"), ("iso-8859-7", "μπλε"),
    ("cp1255", "כחול"), ("utf-7", "blü"),
):  # fmt: skip
    odd(f"text in {encoding}", "t.csv", TEXT.replace("blue", word).encode(encoding), OK)
for name, wrong in {
    "one line in latin-1": "blüe".encode("latin-1"),
    "a lone continuation byte": b"bl\x80e",
    "an overlong slash": b"bl\xc0\xafe",
    "half a surrogate pair": b"bl\xed\xa0\x80e",
    "a character cut short": b"bl\xe2\x82e",
    "bytes of no character": b"bl\xff\xfee",
    "a mark of byte order inside": "bl\ufeffe".encode(),
}.items():
    odd(name, "t.csv", TEXT.encode().replace(b"blue", wrong, 1), OK)
odd("two marks of byte order", "t.csv", b"\xef\xbb\xbf" * 2 + TEXT.encode(), OK)
odd("a character cut off at the end", "t.csv", TEXT.encode() + b"1,\xe2\x82", REFUSED)
odd("half a unit of utf-16", "t.csv", TEXT.encode("utf-16")[:-1], REFUSED)
odd("only the mark of utf-16", "t.csv", b"\xff\xfe", REFUSED)
odd("only the mark of utf-32", "t.csv", b"\xff\xfe\x00\x00", REFUSED)
odd("utf-16 that says to be utf-8", "t.csv", b"\xef\xbb\xbf" + TEXT.encode("utf-16-le"), REFUSED)

# Quotes.
for name, cell, code in (
    ("doubled quotes", '"r""ed"', OK),
    ("a quote inside", 'r"ed', OK),
    ("text after a closing quote", '"red"x', REFUSED),
    ("a backslash before a quote", '"re\\"d"', REFUSED),
    ("only a quote", '"', REFUSED),
    ("three quotes and nothing else", '"""', REFUSED),
):
    odd(f"a cell with {name}", "t.csv", with_line(5, f"4.5,{cell},b"), code)
odd("an unclosed quote in the header", "t.csv", with_header('size,"colour,label'), REFUSED)
odd("an unclosed quote in the last line", "t.csv", TEXT + '1.5,red,"a', REFUSED)
odd("quotes around everything", "t.csv", "\n".join(
    ",".join(f'"{cell}"' for cell in line.split(",")) for line in LINES), OK)  # fmt: skip
odd("quotes around lines", "t.csv", "\n".join(f'"{line}"' for line in LINES), REFUSED)
odd("nothing but quotes", "t.csv", '"' * 1000, REFUSED)

# Rows.
for name, text, code in (
    ("a short first row", with_line(1, "1.5"), REFUSED),
    ("a long last row", TEXT + "1.5,red,a,b,c", REFUSED),
    ("rows that all are long", "\n".join([LINES[0], *(f"{one},x" for one in LINES[1:])]), REFUSED),
    ("rows that all are short", "\n".join([LINES[0] + ",more", *LINES[1:]]), REFUSED),
    ("a separator at each end", "\n".join(f"{one}," for one in LINES), OK),
    ("a separator at the header's end", with_header(LINES[0] + ","), REFUSED),
    ("blank lines between", "\n\n".join(LINES), OK),
    ("lines of separators", with_line(4, ",,"), OK),
    ("a remark last", TEXT + "\nsource: somewhere\n", REFUSED),
    ("lines that end in all ways", TEXT.replace("b\n", "b\r\n").replace("a\n", "a\r"), OK),
    ("returns twice", TEXT.replace("\n", "\r\r\n"), OK),
    ("no header", "\n".join(LINES[1:]), REFUSED),
    ("separators of all kinds", with_line(7, "1.5;red;a"), REFUSED),
    ("a separator line of a spreadsheet", "sep=,\n" + TEXT, OK),
    ("two characters between", TEXT.replace(",", "::"), REFUSED),
    ("columns of fixed width", TEXT.replace(",", "    "), OK),
    ("a table of Markdown", "\n".join(f"| {one.replace(',', ' | ')} |" for one in LINES), OK),
    ("three rows", "\n".join(LINES[:4]), OK),
    ("a header and nothing", LINES[0], REFUSED),
    ("a header and empty rows", LINES[0] + "\n,,\n,,\n", REFUSED),
    ("one cell", "label", REFUSED),
    ("spaces and tabs", " \t \n \t", REFUSED),
    ("only separators", ",,,\n,,,\n", REFUSED),
    ("the same row always", LINES[0] + "\n" + "1.5,red,a\n" * 40, REFUSED),
):  # fmt: skip
    odd(name, "t.csv", text, code)

# Columns.
for name, header, code in (
    ("a name twice", "size,size,label", OK),
    ("the target twice", "label,colour,label", REFUSED),
    ("an empty name", ",colour,label", OK),
    ("a name with a line end", '"si\nze",colour,label', OK),
    ("a name of two forms of a letter", "caf\u00e9,cafe\u0301,label", OK),
    ("a name of an attribute", "__class__,colour,label", OK),
    ("a name that is a formula", "=1+1,colour,label", OK),
    ("a name with braces", "{size},%s,label", OK),
    ("a name of 20,000 letters", "s" * 20000 + ",colour,label", REFUSED),
    ("a name of right-to-left letters", "\u202esize,\u05d0,label", OK),
    ("names without visible letters", "\u200b,\u00a0,label", OK),
    ("the target with spaces", "size,colour, label ", OK),
    ("the target in another column's name", "size,label2,klabel", REFUSED),
    ("the names that predict writes", "prediction,confidence,label", OK),
):  # fmt: skip
    odd(f"columns with {name}", "t.csv", with_header(header), code)

# Control characters.
for name, character in {
    "NUL": "\0", "escape": "\x1b[31m", "a title of the terminal": "\x1b]0;x\x07", "bell": "\a",
    "backspace": "\b", "end of text": "\x1a", "form feed": "\f", "vertical tab": "\v",
    "delete": "\x7f", "control sequence": "\x9b31m", "next line": "\x85",
    "line separator": "\u2028", "file separator": "\x1c", "override": "\u202e",
    "zero width": "\u200b", "not a character": "\uffff", "an emoji": "\U0001f600",
}.items():  # fmt: skip
    code = REFUSED if name == "NUL" else OK
    odd(f"{name} in a cell", "t.csv", TEXT.replace("blue", f"bl{character}e"), code)
    odd(f"{name} in labels", "t.csv", TEXT.replace(",b\n", f",b{character}x\n"), code)
    header = f"size,col{character}our,label"
    odd(f"{name} in a name", "t.csv", with_header(header), code)
odd("NUL at the end", "t.csv", TEXT + "\0" * 50, REFUSED)
odd("only NUL", "t.csv", "\0" * 5000, REFUSED)
odd("NUL in every other place", "t.csv", "\0".join(TEXT), REFUSED)
