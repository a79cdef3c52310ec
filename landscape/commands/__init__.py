"""The commands of the command line, one file a kind: they parse, call and print."""
