"""What ran when, on which worker; what waited for what; and which lines made the program wait.

>>> from forerun import np, profiler
>>> with profiler.record() as p:
...     x = np.ones((100, 100))
...     total = float((x @ x).sum())
>>> [wait.kind for wait in p.trace.waits][0]
'wait'

`report(p.trace)` says it in tables, `timeline(p.trace, "run.svg")` and `graph(p.trace, "graph.svg")` draw it, and
`chrome_trace(p.trace, "run.json")` writes it for Perfetto.
"""

from .chrome import chrome_trace as chrome_trace
from .dot import dot as dot
from .events import Event as Event
from .events import Trace as Trace
from .graph import graph as graph
from .record import Recording as Recording
from .record import record as record
from .record import start as start
from .record import stop as stop
from .report import report as report
from .timeline import timeline as timeline
