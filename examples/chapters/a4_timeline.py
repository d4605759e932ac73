"""A4: how front end and back end work together, drawn from a real run.

A small loop multiplies matrices and, at the end, asks for one number. Which thread issued, ran, and waited?
The program is in src/forerun/tour/experiments/asynchronous/timeline.py.

    python examples/chapters/a4_timeline.py [--quick] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import timeline

if __name__ == "__main__":
    main(timeline, __doc__)
