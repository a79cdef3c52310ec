from .files import FullTextFolder, read_full_text
from .references import find_identifiers

__all__ = ["FullTextFolder", "find_identifiers", "read_full_text"]
