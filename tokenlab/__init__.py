"""tokenlab: how tokenizers really work, in the order of the course.

Public names, and nothing else. Each is explained where it is defined.
"""

from tokenlab.corpus import Corpus, Document, load_corpus
from tokenlab.errors import TokenLabError, TokenLabWarning

__all__ = ["Corpus", "Document", "TokenLabError", "TokenLabWarning", "load_corpus"]
