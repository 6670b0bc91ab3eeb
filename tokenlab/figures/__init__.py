"""Every drawing of the course (all chapters): from plain data to a picture and a sentence that says it.

Nothing here is imported by the library; matplotlib is imported when the first picture is drawn.
"""

from tokenlab.figures.charts import bars_by_group, training_rounds, vocabulary_growth
from tokenlab.figures.drawing import Figure
from tokenlab.figures.flows import offsets_map, pipeline_stages, road_map
from tokenlab.figures.ladders import merge_ladder
from tokenlab.figures.lattices import lattice
from tokenlab.figures.maps import byte_map, chapter_map
from tokenlab.figures.tapes import token_tape

__all__ = [
    "Figure",
    "bars_by_group",
    "byte_map",
    "chapter_map",
    "lattice",
    "merge_ladder",
    "offsets_map",
    "pipeline_stages",
    "road_map",
    "token_tape",
    "training_rounds",
    "vocabulary_growth",
]
