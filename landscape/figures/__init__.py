"""One function per figure."""
