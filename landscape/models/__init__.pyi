from .cards import Card as Card
from .cards import describe_cards as describe_cards
from .cards import list_cards as list_cards
from .cards import read_numbers as read_numbers
from .cards import read_weights as read_weights
from .cards import write_numbers as write_numbers
from .cards import write_weights as write_weights
