"""An OTF2 archive as a program: the native reader, and the columns that it returns."""
