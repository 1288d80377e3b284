"""The options of `logpost record`: a subject's types, help and parser in one file each."""
