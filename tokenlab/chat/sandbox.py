"""The Jinja2 sandbox in which chat templates run: the field's dialect, marked text, and a budget.

Chapter 08, after the `.mtok` document (what templates use) and Jinja2's documentation of its sandbox. It
speaks the dialect that `transformers` gives its templates. Everything that a template writes is `MarkedText`.

Left out on purpose: filters for web pages (`urlize`, `xmlattr`, `striptags`), slow or random ones (`pprint`,
`wordwrap`, `random`, `lipsum`). `safe` changes nothing, since nothing is escaped here.
"""

from __future__ import annotations

import json
import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from itertools import count
from types import CodeType, MethodType
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError, TemplateError, TemplateSyntaxError
from jinja2.ext import Extension, LoopControlExtension
from jinja2.filters import make_attrgetter
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedFormatter
from jinja2.utils import Namespace, pass_context, pass_environment

from tokenlab.chat.limits import CONTAINERS, budget
from tokenlab.chat.marked import (
    DATA,
    TEMPLATE,
    UNTRACEABLE,
    MarkedText,
    afford_numbers,
    inserted,
    joined,
    mark,
    marks_of,
    opaque,
    quoted,
    strings_in,
)

# fmt: off
STRING_METHODS = frozenset((
    "capitalize", "casefold", "center", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii",
    "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle",
    "isupper", "join", "ljust", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
    "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith",
    "strip", "swapcase", "title", "upper",
))
# fmt: on
LEFT_OUT = ("urlize", "xmlattr", "striptags", "pprint", "wordwrap", "random")
SIZED_FILTERS = ("batch", "center", "indent", "round", "slice", "truncate")  # a number asks for memory
EACH = "each item"  # filter and variable names that hold a space: no template can spell them
ASSISTANT_PARTS = "assistant parts"
INDENT_DEPTH = 1000  # JSON nests no deeper than Python's stack


def text(value: Any) -> MarkedText:
    """Return what printing a value writes."""
    if isinstance(value, MarkedText):
        return value
    if isinstance(value, CONTAINERS):
        budget().weigh(value)
        return quoted(str(value), strings_in(value), repr, value)
    if isinstance(value, MethodType):
        return opaque(lambda: str(value), value)
    written = str(value)
    return MarkedText(written, UNTRACEABLE * len(written))


def weighed(value: Any) -> Any:
    """Return a value that the template has just made; a list or a mapping is weighed."""
    budget().weigh(value)
    return value


def each(items: Iterable[Any]) -> Iterator[Any]:
    """Yield items, each one a step of the budget."""
    for item in items:
        budget().step()
        yield item


# Filters and functions of the dialect


@pass_environment
def join(environment: Sandbox, value: Iterable[Any], d: Any = "", attribute: Any = None) -> MarkedText:
    """Jinja2's `join`, which would lose the marks."""
    if attribute is not None:
        value = map(make_attrgetter(environment, attribute), value)
    return joined([text(item) for item in each(value)], text(d))


@pass_environment
def sum_(environment: Sandbox, iterable: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    """Jinja2's `sum`, step by step: to add up lists takes time that grows with the square of their number."""
    if attribute is not None:
        iterable = map(make_attrgetter(environment, attribute), iterable)
    return sum(each(iterable), start)


def indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> MarkedText:
    """Jinja2's `indent`, which would lose the marks."""
    margin = width if isinstance(width, str) else MarkedText(" " * width, TEMPLATE * width)
    lines = (text(s) + MarkedText("\n", TEMPLATE)).splitlines()
    indented = [margin + line if ((line or blank) if i else first) else line for i, line in enumerate(lines)]
    return joined(indented, MarkedText("\n", TEMPLATE))


def tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> MarkedText:
    """Write JSON as the field does: no HTML escapes, non-ASCII as it is; each string keeps its marks."""
    budget().weigh(value)
    budget().afford(INDENT_DEPTH * (len(indent) if isinstance(indent, str) else indent or 0))
    layout: Any = {"indent": indent, "separators": separators}
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, sort_keys=sort_keys, **layout)
    written = "".join(chunk for chunk in encoder.iterencode(value) if budget().spend(len(chunk)) >= 0)
    if any(DATA in marks_of(part) for part in strings_in(layout.values())):  # it may hold quotation marks
        return opaque(lambda: written, value, layout.values())
    return quoted(written, strings_in(value, sort_keys), encoder.encode, value)


def line_of(error: BaseException) -> int | None:
    """Return a template's line: where its syntax broke, or the innermost one being read, compiled or run."""
    if line := getattr(error, "lineno", None):
        return int(line)
    found: int | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        known = frame.f_locals
        if frame.f_code.co_filename == "<template>":
            found = line
        elif isinstance(parser := known.get("self"), Parser):
            found = parser.stream.current.lineno
        elif isinstance(node := known.get("node", known.get("self")), nodes.Node):
            found = node.lineno
    return found


def raise_exception(message: Any) -> None:
    """Stop the rendering with the template's own message."""
    raise TemplateError(str.__str__(text(message)))


class TemplateNamespace(Namespace):
    """`namespace()`: no private names, and no way to print what it holds."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        Namespace.__init__(args[0])
        for name, value in dict(*args[1:], **kwargs).items():
            args[0][name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if str(name).startswith("_"):
            raise SecurityError(f"a namespace holds no private name such as {name!r}")
        super().__setitem__(name, value)

    def __repr__(self) -> str:
        return "<Namespace>"


class Formatter(SandboxedFormatter):
    """`str.format` in the sandbox, keeping the marks of what it puts in."""

    def vformat(self, format_string: str, args: Any, kwargs: Any) -> MarkedText:
        return joined(self._converted(text(format_string), args, kwargs))

    def _converted(self, form: MarkedText, args: Any, kwargs: Any) -> Iterator[MarkedText]:
        """Yield the literal parts of a form and, behind each, what its field puts in."""
        automatic = count()
        for literal, field, spec, conversion in self.parse(form):
            yield opaque(partial(str, literal), form)
            if field is None:
                continue
            if field == "" or field[0] in ".[":
                field = f"{next(automatic)}{field}"
            value = self.get_field(field, args, kwargs)[0]
            if conversion:
                value = opaque(partial(self.convert_field, value, conversion), value)
            spec = str.__str__(self.vformat(spec, args, kwargs)) if spec else ""
            afford_numbers(spec)
            yield inserted(value, not spec, partial(format, value, spec))


class Generation(Extension):
    """The block `{% generation %}`, which says what the assistant is meant to have written."""

    tags = {"generation"}  # noqa: RUF012 - Jinja2's own form

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("remember"), [], [], body).set_lineno(line)

    @pass_context
    def remember(self, context: Context, caller: Callable[[], MarkedText]) -> MarkedText:
        """Keep the block's text, so that the renderer knows it when it comes out."""
        written = caller()
        context.resolve(ASSISTANT_PARTS).append(written)
        return written


class MarkingCodeGenerator(CodeGenerator):
    """Jinja2's compiler, with the template's literals marked and its loops counted."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        for loop in list(node.find_all(nodes.For)):
            loop.iter = nodes.Filter(loop.iter, EACH, [], [], None, None, lineno=loop.iter.lineno)
        node.set_environment(self.environment)
        super().visit_Template(node, frame)

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        if isinstance(node.value, (str, dict, list, tuple)):
            self.write(f"environment.written({node.value!r})")
        else:
            super().visit_Const(node, frame)

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return f"environment.written({''.join(group)!r})"

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        self._visit_weighed(super().visit_List, node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        self._visit_weighed(super().visit_Dict, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        visit = super().visit_Tuple
        self._visit_weighed(visit, node, frame) if node.ctx == "load" else visit(node, frame)

    def _visit_weighed(self, visit: Callable[[Any, Frame], None], node: nodes.Expr, frame: Frame) -> None:
        self.write("environment.weighed(")
        visit(node, frame)
        self.write(")")

    def visit_ScopedEvalContextModifier(self, node: nodes.ScopedEvalContextModifier, frame: Frame) -> None:
        if any(option.value != nodes.Const(False) for option in node.options):
            self.fail("{% autoescape %} writes HTML, in which nobody knows who wrote what", node.lineno)
        super().visit_ScopedEvalContextModifier(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.tilde((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of chat templates."""

    code_generator_class = MarkingCodeGenerator
    intercepted_binops = frozenset({"+", "*", "/", "//", "%", "**"})
    concat = staticmethod(joined)
    weighed = staticmethod(weighed)
    written = staticmethod(partial(mark, writer=TEMPLATE))  # a literal of the template

    def __init__(self, strftime_now: Callable[[str], str]) -> None:
        extensions = [Generation, LoopControlExtension]
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=extensions, finalize=text)
        self.filters.update(join=join, indent=indent, tojson=tojson, safe=text, string=text, sum=sum_)
        kept = ((name, made) for name, made in self.filters.items() if name not in LEFT_OUT)
        self.filters = {name: self._counted(name, made) for name, made in kept}
        self.filters[EACH] = each
        self.globals.pop("lipsum")
        self.globals.update(
            namespace=TemplateNamespace,
            dict=lambda *args, **kwargs: dict(*args, **kwargs),
            raise_exception=raise_exception,
            strftime_now=partial(self._strftime, strftime_now),
        )

    @staticmethod
    def tilde(parts: Iterable[Any]) -> MarkedText:
        """The operator `~`."""
        budget().step()
        return joined([text(part) for part in parts])

    @staticmethod
    def _strftime(clock: Callable[[str], str], form: Any) -> MarkedText:
        budget().afford(256 * len(form))
        return opaque(lambda: clock(str.__str__(form)), form)

    @staticmethod
    def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that counts what it makes, and whose texts are marked."""

        @wraps(function)
        def counted(*args: Any, **kwargs: Any) -> Any:
            budget().step()
            # Constants that are folded early are not marked yet.
            args = tuple(text(value) if type(value) is str else value for value in args)
            for number in (*args[1:], *kwargs.values()) if name in SIZED_FILTERS else ():
                if isinstance(number, int):
                    budget().within("max_bits" if name == "round" else "max_length", abs(number))
            made = function(*args, **kwargs)
            if isinstance(made, str) and not isinstance(made, MarkedText):
                return opaque(lambda: str.__str__(made), args, kwargs)
            return each(made) if isinstance(made, Iterator) else weighed(made)

        return counted

    def _compile(self, source: str, filename: str) -> CodeType:
        """Compile Python; what only Python refuses, such as a `break` outside of loops, gets its line too."""
        try:
            return super()._compile(source, filename)
        except SyntaxError as error:
            pairs = re.findall(r"(\d+)=(\d+)", source[source.rindex("debug_info = ") :])
            lines = [int(line) for line, python in pairs if int(python) <= (error.lineno or 0)]
            reason = re.sub(r"\bl_\d+_", "", error.msg)  # how Jinja2 names a template's variables in Python
            raise TemplateSyntaxError(reason, lines[-1] if lines else 1) from None

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        budget().step()
        if isinstance(left, int) and isinstance(right, int):
            sizes = left.bit_length(), right.bit_length()
            budget().within("max_bits", sizes[0] * max(right, 1) if operator == "**" else sum(sizes))
        for items, times in ((left, right), (right, left)):
            if operator == "*" and isinstance(items, (list, tuple)) and isinstance(times, int):
                budget().afford(len(items) * times)
        if operator in "*%" and type(left) is str:
            left = text(left)
        return weighed(super().call_binop(context, operator, left, right))

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        budget().step()
        return weighed(super().call(context, function, *args, **kwargs))

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, str):
            return attr in STRING_METHODS
        return not isinstance(obj, (int, float, bytes)) and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        form, name = getattr(value, "__self__", None), getattr(value, "__name__", "")
        if not isinstance(form, str) or name not in ("format", "format_map"):
            return None
        formatter = Formatter(self)
        if name == "format_map":
            return lambda mapping: formatter.vformat(form, (), mapping)
        return lambda *args, **kwargs: formatter.vformat(form, args, kwargs)
