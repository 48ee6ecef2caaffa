"""The explorer: a web application on this computer, over the same studies as the command line.

`rooms` says what each page asks for, as plain data; `server` speaks HTTP and trusts nothing that it is sent; `page` has
the one page, its script and its style, which load nothing from elsewhere.
"""
