"""tokenlab: how tokenizers really work, in the order of the course.

Public names, and nothing else. Each is explained where it is defined.
"""

import tokenlab.formats  # noqa: F401 - fills the table of file formats
from tokenlab.bpe.layout import (
    BOS_TOKEN_ID,
    CONTENT_ID_OFFSET,
    EOS_TOKEN_ID,
    FIRST_BYTE_TOKEN_ID,
    FIRST_MERGE_TOKEN_ID,
    LAST_BYTE_TOKEN_ID,
    TOKENIZER_LAYOUT_VERSION,
    TokenizerLayout,
)
from tokenlab.bpe.tokenizer import BpeTokenizer, EncodingTrace, MergeApplication, trace_report
from tokenlab.bpe.training import BpeTrainer, BpeTraining, MergeRule
from tokenlab.chat import ChatTemplate, TemplateLimits
from tokenlab.corpus import Corpus, Document, load_corpus
from tokenlab.errors import TokenLabError, TokenLabWarning
from tokenlab.pipeline.encoding import Encoding
from tokenlab.pipeline.learnt import to_pipeline
from tokenlab.pipeline.tokenizer import Tokenizer
from tokenlab.progress import progress_bar
from tokenlab.unigram.training import TrainingRound, UnigramTrainer, UnigramTraining
from tokenlab.unigram.viterbi import Edge, Lattice, Segmentation, Unigram
from tokenlab.words import UNKNOWN_WORD_ID, ClosedVocabulary

__all__ = [
    "BOS_TOKEN_ID",
    "CONTENT_ID_OFFSET",
    "EOS_TOKEN_ID",
    "FIRST_BYTE_TOKEN_ID",
    "FIRST_MERGE_TOKEN_ID",
    "LAST_BYTE_TOKEN_ID",
    "TOKENIZER_LAYOUT_VERSION",
    "UNKNOWN_WORD_ID",
    "BpeTokenizer",
    "BpeTrainer",
    "BpeTraining",
    "ChatTemplate",
    "ClosedVocabulary",
    "Corpus",
    "Document",
    "Edge",
    "Encoding",
    "EncodingTrace",
    "Lattice",
    "MergeApplication",
    "MergeRule",
    "Segmentation",
    "TemplateLimits",
    "TokenLabError",
    "TokenLabWarning",
    "Tokenizer",
    "TokenizerLayout",
    "TrainingRound",
    "Unigram",
    "UnigramTrainer",
    "UnigramTraining",
    "load_corpus",
    "progress_bar",
    "to_pipeline",
    "trace_report",
]
