"""What ran when, on which worker; what waited for what; and which lines made the program wait."""

from .events import Event as Event
from .events import Trace as Trace
from .record import Profile as Profile
from .record import profile as profile
from .record import start as start
from .record import stop as stop
from .timeline import timeline as timeline
