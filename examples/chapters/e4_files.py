"""E4: reading and writing files is work for the engine, too, and goes on beside the computation.

Several matrices are read from files, worked on, and written to other files, down to the disk.
The program is in src/forerun/tour/experiments/parallel/files.py.

    python examples/chapters/e4_files.py [--quick] [--out FOLDER]
"""

from common import main

from forerun.tour.experiments import files

if __name__ == "__main__":
    main(files, __doc__)
