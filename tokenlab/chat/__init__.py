"""Chapter 08: chat templates, and encoding them so that a message cannot forge a control token."""

from tokenlab.chat.limits import TemplateLimits
from tokenlab.chat.template import ChatTemplate

__all__ = ["ChatTemplate", "TemplateLimits"]
