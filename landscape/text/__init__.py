"""What one abstract says: parts of speech, keywords and phrases."""
