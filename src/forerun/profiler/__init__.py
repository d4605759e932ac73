"""Profiles: when and where operations ran, their dependencies, and the lines that made the program wait.

>>> from forerun import np, profiler
>>> with profiler.record() as p:
...     x = np.ones((100, 100))
...     total = float((x @ x).sum())
>>> [op.name for op in p.trace.ops][:2]
['full', 'matmul']

`report(p.trace)` says it in tables; `timeline(p.trace, "run.html")` is a page that shows it, with `.svg` a picture,
with `.json` a file for Perfetto; `graph(p.trace, "graph.svg")` draws which operation read the results of which;
`whatif(p.trace, devices=8, ranks=64)` predicts a step on another machine.
"""

from ._hooks.spans import spans as spans
from ._hooks.summaries import Summaries as Summaries
from ._replay.prediction import Change as Change
from ._replay.prediction import Prediction as Prediction
from ._replay.prediction import whatif as whatif
from .blockers import Blocker as Blocker
from .blockers import blockers as blockers
from .cost import Bound as Bound
from .cost import Cost as Cost
from .cost import bound as bound
from .cost import cost as cost
from .events import Compiled as Compiled
from .events import Event as Event
from .events import Line as Line
from .events import OnHost as OnHost
from .events import Rank as Rank
from .events import Trace as Trace
from .graph import Graph as Graph
from .graph import graph as graph
from .guarding import Blocked as Blocked
from .guarding import BlockedWarning as BlockedWarning
from .guarding import guard as guard
from .record import Recording as Recording
from .record import load as load
from .record import record as record
from .record import start as start
from .record import stop as stop
from .report import report as report
from .timeline import timeline as timeline
