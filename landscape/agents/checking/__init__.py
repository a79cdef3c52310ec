"""Check the citations of a draft against the papers cited."""
