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

from .._display.namespaces import dir_of
from ._hooks.metrics import metrics as metrics
from ._hooks.spans import spans as spans
from ._hooks.summaries import Summaries as Summaries
from ._replay.prediction import Change as Change
from ._replay.prediction import Prediction as Prediction
from ._replay.prediction import whatif as whatif
from .blocking_lines import Blocker as Blocker
from .blocking_lines import blockers as blockers
from .costs import Bound as Bound
from .costs import Cost as Cost
from .costs import bound as bound
from .costs import cost as cost
from .events import Compiled as Compiled
from .events import Event as Event
from .events import Line as Line
from .events import OnHost as OnHost
from .events import Rank as Rank
from .events import Trace as Trace
from .graphs import Graph as Graph
from .graphs import graph as graph
from .guarding import Blocked as Blocked
from .guarding import BlockedWarning as BlockedWarning
from .guarding import guard as guard
from .recording import Recording as Recording
from .recording import load as load
from .recording import record as record
from .recording import start as start
from .recording import stop as stop
from .reports import report as report
from .timelines import timeline as timeline

__all__ = [
    "Blocked", "BlockedWarning", "Blocker", "blockers", "Bound", "bound", "Change", "Compiled", "Cost", "cost",
    "Event", "Graph", "graph", "guard", "Line", "load", "metrics", "OnHost", "Prediction", "Rank", "record",
    "Recording", "report", "spans", "start", "stop", "Summaries", "timeline", "Trace", "whatif",
]  # fmt: skip
__dir__ = dir_of(__name__)
