"""tokenlab: how tokenizers really work, in the order of the course.

Public names, and nothing else. Each is explained where it is defined.
"""

from tokenlab.errors import TokenLabError, TokenLabWarning

__all__ = ["TokenLabError", "TokenLabWarning"]
