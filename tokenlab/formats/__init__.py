"""File formats (chapter 7): importing this fills the table that `Tokenizer.from_file` and `save` use."""

from tokenlab.formats import huggingface, legacy_pipeline, mtok
from tokenlab.pipeline.tokenizer import CODECS

CODECS += [huggingface, mtok, legacy_pipeline]
