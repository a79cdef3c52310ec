from ._candidates import facility_candidates as facility_candidates
from ._comparison import before_after as before_after
from ._comparison import compare_facilities as compare_facilities
from ._impact import impact as impact
from ._impact import measure_usage as measure_usage
from ._mentions import Mention as Mention
from ._mentions import find_in_papers as find_in_papers
from ._mentions import find_mentions as find_mentions
