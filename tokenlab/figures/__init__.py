"""Every drawing of the course (all chapters): from plain data to a picture and a sentence that says it.

Nothing here is imported by the library; matplotlib is imported when the first picture is drawn.
"""

from tokenlab.figures.drawing import Figure
from tokenlab.figures.tapes import merge_ladder, token_tape

__all__ = ["Figure", "merge_ladder", "token_tape"]
