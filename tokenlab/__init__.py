"""tokenlab: how tokenizers really work, in the order of the course.

Public names, and nothing else. Each is explained where it is defined, and is loaded when it is first used: so
`import tokenlab` needs the standard library alone and takes no time.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "tokenlab.errors": ("TokenLabError", "TokenLabWarning"),
    "tokenlab.corpus": ("Corpus", "Document", "load_corpus"),
    "tokenlab.progress": ("progress_bar",),
    "tokenlab.words": ("UNKNOWN_WORD_ID", "ClosedVocabulary"),
    "tokenlab.bpe.training": ("BpeTrainer", "BpeTraining", "MergeRule"),
    "tokenlab.bpe.layout": (
        "BOS_TOKEN_ID",
        "CONTENT_ID_OFFSET",
        "EOS_TOKEN_ID",
        "FIRST_BYTE_TOKEN_ID",
        "FIRST_MERGE_TOKEN_ID",
        "LAST_BYTE_TOKEN_ID",
        "TOKENIZER_LAYOUT_VERSION",
        "TokenizerLayout",
    ),
    "tokenlab.bpe.tokenizer": ("BpeTokenizer", "EncodingTrace", "MergeApplication", "trace_report"),
    "tokenlab.unigram.viterbi": ("Edge", "Lattice", "Segmentation", "Unigram"),
    "tokenlab.unigram.training": ("TrainingRound", "UnigramTrainer", "UnigramTraining"),
    # A tokenizer reads and writes files through a table that the formats fill, so they come with it.
    "tokenlab.formats": ("ControlToken", "Encoding", "Tokenizer", "to_pipeline"),
    "tokenlab.chat": ("ChatTemplate", "TemplateLimits"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
_ROOMS = ("bpe", "chat", "corpus", "errors", "figures", "formats", "pipeline", "tables", "unigram", "words")
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"tokenlab.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tokenlab' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
