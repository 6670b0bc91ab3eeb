"""tokenlab: how tokenizers really work, in the order of the course.

Public names, and nothing else. Each is explained where it is defined.
"""

from tokenlab.chat import ChatTemplate, TemplateLimits
from tokenlab.corpus import Corpus, Document, load_corpus
from tokenlab.errors import TokenLabError, TokenLabWarning

__all__ = ["ChatTemplate", "Corpus", "Document", "TemplateLimits", "TokenLabError", "TokenLabWarning", "load_corpus"]
