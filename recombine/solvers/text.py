"""The numbers of what is not a word in a text that a network reads or writes; words are numbered after them."""

PAD, END, UNKNOWN, BEGIN = range(4)
SPECIAL = 4
