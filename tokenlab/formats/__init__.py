"""File formats (chapter 7): importing this fills the table that `Tokenizer.from_file` and `save` use."""

from tokenlab.formats import huggingface, legacy_pipeline, mtok
from tokenlab.pipeline.encoding import Encoding
from tokenlab.pipeline.learnt import to_pipeline
from tokenlab.pipeline.tokenizer import CODECS, ControlToken, Tokenizer

CODECS += [huggingface, mtok, legacy_pipeline]

__all__ = ["CODECS", "ControlToken", "Encoding", "Tokenizer", "to_pipeline"]
