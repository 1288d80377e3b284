"""What an archive states of its recording: when it ended, what was switched off, and what was overwritten."""
