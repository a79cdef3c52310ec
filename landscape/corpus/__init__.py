"""Papers come in: readers, cleaning, deduplication, fetching and the demo corpus."""
