"""Import of GASNet's own trace files, which UPC, UPC++ and Chapel programs write."""
