"""Networks of the literature, ready to be trained, in Gluon's names: `vision` has those for images."""

from . import vision as vision
