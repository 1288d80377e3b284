"""An archive is read by tasks from files to files, which any number of processes and machines may run."""
