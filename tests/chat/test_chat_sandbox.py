"""Templates come from strangers: what they may not reach, and what they may not use up."""

from __future__ import annotations

import copy
import re
import time
import tracemalloc
from pathlib import Path

import pytest

from tokenlab import ChatTemplate, TemplateLimits
from tokenlab.errors import ChatTemplateError, TemplateLimitError, TokenLabError

# Each of these is refused, or prints nothing of interest.
WALKS = [
    "{{ [].__class__.__base__.__subclasses__() }}",
    "{{ ''.__class__.mro() }}",
    "{{ messages.__class__ }}",
    "{{ messages[0].content.__class__.__mro__ }}",
    "{{ messages[0].content.marks }}",
    "{{ messages[0].content['marks'] }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ namespace(x=1).__class__ }}",
    "{{ namespace(__class__=1) }}",
    "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
    "{{ cycler.__init__.__globals__.os }}",
    "{{ joiner()['__class__'] }}",
    "{{ dict.__globals__ }}",
    "{{ range.__self__ }}",
    "{{ strftime_now.func.__globals__ }}",
    "{{ raise_exception.__globals__ }}",
    "{{ messages | attr('__class__') }}",
    "{{ [''] | map('attr', '__class__') | list | first }}",
    "{{ [''] | map(attribute='__class__') | list | first }}",
    "{{ [''] | groupby('__class__') }}",
    "{{ [''] | selectattr('__class__') | list | length }}",
    "{{ '{0.__class__}'.format(messages) }}",
    "{{ '{0[0].__class__.__mro__}'.format(messages) }}",
    "{{ '{x.__class__}'.format(x=messages) }}",
    "{{ '{x.__class__}'.format_map({'x': messages}) }}",
    "{{ ('{0.__class__}' | attr('format'))(messages) }}",
    "{{ ['{0.__class__}'] | map(attribute='format') | first }}{{ ''.format.__self__ }}",
    "{{ ['{0.__class__}'.format] | map('attr', '__func__') | list | first }}",
    "{{ (messages | map('first')).gi_frame }}",
    "{% macro f() %}{% endmacro %}{{ f.__call__.__globals__ }}{{ f._func }}{{ f._environment }}",
    "{% for m in messages %}{{ loop.__class__ }}{{ loop._iterator }}{% endfor %}",
    "{{ (1).__class__ }}{{ (1).real }}{{ 1.5.hex }}",
    "{{ messages[0].content.encode() }}",
    "{{ x.__class__ }}",
    "{{ lipsum.__globals__ }}",
    "{{ config }}{{ request }}{{ environment }}{{ context }}",
]


@pytest.mark.parametrize("source", WALKS)
def test_the_insides_of_python_are_out_of_reach(source: str) -> None:
    try:
        text = ChatTemplate(source).render("hi")
    except ChatTemplateError as error:
        assert error.line == 1
    else:
        assert not re.search("<class|<module|globals|builtin|object at", text)


MUTATIONS = [
    "{{ messages.append(1) }}",
    "{{ messages[0].update({'content': 'changed'}) }}",
    "{{ messages[0].clear() }}",
    "{{ messages.pop() }}",
    "{{ messages[0].setdefault('x', 1) }}",
    "{{ tools[0].parts.extend([1]) }}",
    "{% set _ = messages | map('attr', 'clear') | list %}{{ _[0]() }}",
    "{{ (messages | attr('append'))(1) }}",
    "{% set messages[0] = 1 %}",
    "{% set messages.x = 1 %}",
]


@pytest.mark.parametrize("source", MUTATIONS)
def test_what_the_caller_gave_stays_as_it_is(source: str) -> None:
    messages, tools = [{"role": "user", "content": ["a"]}], [{"parts": [1]}]
    before = copy.deepcopy((messages, tools))
    with pytest.raises(ChatTemplateError):
        ChatTemplate(source).render(messages, tools=tools)
    assert (messages, tools) == before


def test_the_template_works_on_a_copy() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "a"}], "reasoning": "r"}
    before = copy.deepcopy(message)
    template = ChatTemplate("{{ messages[0].content[0].text }}{{ messages[0].reasoning_content }}")
    assert template.render([message], continue_final_message=True) == "a"
    assert message == before


@pytest.mark.parametrize("tag", ["include", "import", "extends", "from"])
def test_no_file_is_read(tag: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    path = str(tmp_path / "secret")
    source = {
        "include": f"{{% include '{path}' %}}",
        "import": f"{{% import '{path}' as x %}}{{{{ x }}}}",
        "extends": f"{{% extends '{path}' %}}",
        "from": f"{{% from '{path}' import x %}}",
    }[tag]
    with pytest.raises(ChatTemplateError):
        ChatTemplate(source).render("hi")


REPEATED = "{% set ns = namespace(x=START) %}{% for i in range(60) %}{% set ns.x = STEP %}{% endfor %}"


def doubling(start: str, step: str, use: str = "") -> str:
    return REPEATED.replace("START", start).replace("STEP", step) + use


BOMBS = {
    "text * n": "{{ 'x' * 10**9 }}",
    "n * text": "{{ 10**9 * 'x' }}",
    "list * n": "{{ ([1] * 10**9) | length }}",
    "power": "{{ 10 ** (10 ** 8) }}",
    "power of variables": "{% set n = 99999999 %}{{ n ** n }}",
    "squares": doubling("10", "ns.x * ns.x"),
    "a + a": doubling("'ab'", "ns.x + ns.x"),
    "a ~ a": doubling("'ab'", "ns.x ~ ns.x"),
    "list + list": doubling("[1]", "ns.x + ns.x"),
    "printed list of lists": doubling("[1]", "[ns.x, ns.x]", "{{ ns.x }}"),
    "compared lists of lists": doubling("[1]", "[ns.x, ns.x]", "{{ ns.x == [ns.x] }}"),
    "tuples of tuples": doubling("(1,)", "(ns.x, ns.x)", "{{ ns.x | tojson }}"),
    "mappings of mappings": doubling("1", "{'a': ns.x, 'b': ns.x}", "{{ ns.x }}"),
    "lists of views": "{% set d = {'a': 'x' * 900000} %}{{ [d.values()] * 100000 }}",
    "lists of methods": "{% set x = 'x' * 900000 %}{{ [x.upper] * 100000 }}",
    "captured blocks": "{% set ns = namespace(x='ab') %}{% for i in range(60) %}"
    "{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}{% endfor %}",
    "center filter": "{{ 'x' | center(1000000000) }}",
    "center of a number": "{{ 5 | center(1000000000) }}",
    "center method": "{{ 'x'.center(1000000000) }}",
    "ljust": "{{ 'x'.ljust(1000000000) }}",
    "zfill": "{{ 'x'.zfill(1000000000) }}",
    "expandtabs": "{{ '\t'.expandtabs(1000000000) }}",
    "% width": "{{ '%1000000000d' % 1 }}",
    "% width folded": "{{ '%1000000000d' | format(1) }}",
    "% star": "{{ '%*d' % (1000000000, 1) }}",
    "% precision": "{{ '%.1000000000f' % 1.0 }}",
    "% many": "{% set x = 'a' * 900000 %}{{ ('%s' * 1000) % ((x,) * 1000) }}",
    "% key": "{% set x = 'a' * 900000 %}{{ ('%(a)s' * 10000) % {'a': x} }}",
    "format width": "{{ '{:1000000000}'.format(1) }}",
    "format nested width": "{{ '{:{w}}'.format(1, w=1000000000) }}",
    "format many": "{% set x = 'a' * 900000 %}{{ ('{0}' * 10000).format(x) }}",
    "format map": "{{ '{a:1000000000}'.format_map({'a': 1}) }}",
    "format repr": "{% set l = ['a' * 900000] %}{{ ('{0!r}' * 1000).format(l) }}",
    "join": "{% set x = 'a' * 900000 %}{{ ([x] * 1000) | join }}",
    "join method": "{% set x = 'a' * 900000 %}{{ x.join(['b'] * 1000) }}",
    "replace": "{% set x = 'a' * 900000 %}{{ x | replace('a', x) }}",
    "replace nothing": "{% set x = 'a' * 900000 %}{{ x.replace('', x) }}",
    "batch": "{{ [1] | batch(1000000000, 0) | list }}",
    "slice": "{{ [1] | slice(1000000000) | list }}",
    "indent": "{{ 'a\nb' | indent(1000000000) }}",
    "indent by text": "{% set x = 'a' * 900000 %}{{ ('a\n' * 100000) | indent(x) }}",
    "tojson indent": "{{ [1] | tojson(indent=1000000000) }}",
    "tojson separators": "{{ ([1] * 1000) | tojson(separators=('a' * 900000, 'b')) }}",
    "round": "{{ 5 | round(-1000000000, 'floor') }}",
    "strftime": "{{ strftime_now('%d' * 400000) }}",
    "translate": "{{ 'aa'.translate({97: 'x' * 900000}) }}",
    "to_bytes": "{{ (1).to_bytes(1000000000, 'big') }}",
    "sum of lists": "{% set l = [1] * 10000 %}{{ ([l] * 10000) | sum(start=[]) | length }}",
    "sort of long texts": "{% set x = 'a' * 900000 %}{{ ([x, x ~ 'b'] * 10000) | sort | length }}",
    "letters as texts": "{{ ('a' * 900000) | list | length }}",
    "long range": "{% for i in range(99999999) %}x{% endfor %}",
    "nested ranges": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "lazy ranges": "{% set r = range(99999) | list %}{% for i in r %}"
    "{% set q = r | map('abs') | list %}{% endfor %}",
    "self-calling macro": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "macro tree": "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "self-calling loop": "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "loop tree": "{% for x in [1, 2] recursive %}{{ loop([1, 2]) if loop.depth < 90 }}{% endfor %}",
    "self-calling block": "{% block a %}{{ self.a() }}{% endblock %}",
    "deep list": doubling("1", "[ns.x]").replace("60", "90000") + "{{ ns.x }}",
    "deep parentheses": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "deep lists": "{{ " + "[" * 3000 + "]" * 3000 + " }}",
    "deep blocks": "{% if 1 %}" * 3000 + "{% endif %}" * 3000,
    "deep loops": "{% for i in [1] %}" * 100 + "{% endfor %}" * 100,
    "long sum": "{{ 1" + " + 1" * 4000 + " }}",
    "many filters": "{{ 'x'" + " | upper" * 4000 + " }}",
    "long template": "x" * 1_000_001,
}
SMALL = TemplateLimits(max_length=1_000_000, max_steps=100_000, max_produced=20_000_000, max_seconds=1)


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_in_bounded_time_and_memory(source: str) -> None:
    started = time.monotonic()
    tracemalloc.start()
    try:
        with pytest.raises(ChatTemplateError) as caught:
            ChatTemplate(source, limits=SMALL).render("hi")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200_000_000
    assert time.monotonic() - started < 30
    assert re.match(r"(the template|line \d of the template): ", str(caught.value))


@pytest.mark.parametrize(
    ("limit", "small", "enough", "source"),
    [
        ("max_length", 10, 1000, "{{ 'x' * 11 }}"),
        ("max_steps", 10, 100, "{% for i in range(11) %}x{% endfor %}"),
        ("max_produced", 100, 10_000, "{% for i in range(9) %}{{ 'ab' | upper }}{% endfor %}"),
        ("max_bits", 10, 100, "{{ 2 ** 11 }}"),
        ("max_seconds", 0, 10, "{% for i in range(11) %}x{% endfor %}"),
    ],
)
def test_each_limit_can_be_raised(limit: str, small: float, enough: float, source: str) -> None:
    with pytest.raises(TemplateLimitError) as caught:
        ChatTemplate(source, limits=TemplateLimits(**{limit: small})).render([])  # type: ignore[arg-type]
    assert (caught.value.limit, caught.value.allowed) == (limit, small)
    assert ChatTemplate(source, limits=TemplateLimits(**{limit: enough})).render([])  # type: ignore[arg-type]


def test_the_rendered_length_is_limited_as_a_whole() -> None:
    template = ChatTemplate(
        "{% for m in messages %}{{ m.content }}{% endfor %}", limits=TemplateLimits(max_length=300)
    )
    with pytest.raises(TemplateLimitError):
        template.render([{"role": "user", "content": "x" * 60}] * 6)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\n{{ 'a' | lowr }}", 2),
        ("a\n\n{% for %}", 3),
        ("a\n{{ x.y.z }}", 2),
        ("a\n{% macro m() %}\n{{ 1 / 0 }}\n{% endmacro %}\n{{ m() }}", 3),
        ("\n\n\n{{ raise_exception('no') }}", 4),
        ("\n{{ 'x' * 10**9 }}", 2),
        ("{% if x %}\n", 1),
        # What Jinja2 accepts, and only Python refuses when it compiles what Jinja2 has made of it:
        ("a\n{% break %}", 2),
        ("a\n\n{% macro m(b, b) %}{% endmacro %}", 3),
        ("{{ 1 }}\n{{ f(x=1, x=2) }}\n{{ 2 }}", 2),
        # What is too deep to be read, or to be compiled:
        ("\n{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}\n", 2),
        ("\n{{ x" + " + 1" * 4000 + " }}\n", 2),
        ("\n{{ 1" + "0" * 5000 + " }}\n", 2),
    ],
)
def test_errors_name_the_line(source: str, line: int) -> None:
    with pytest.raises(TokenLabError) as caught:
        ChatTemplate(source).render("hi")
    assert caught.value.line == line  # type: ignore[attr-defined]
    assert f"line {line} of the template" in str(caught.value)


def test_an_error_of_the_compiled_python_is_told_in_the_templates_own_names() -> None:
    with pytest.raises(ChatTemplateError, match="duplicate argument 'b'"):
        ChatTemplate("{% macro m(b, b) %}{% endmacro %}")


@pytest.mark.parametrize("condition", ["true", "x", "1"])
def test_escaping_for_web_pages_is_refused(condition: str) -> None:
    """`transformers` renders it (it is part of Jinja2): so another text, or one unmarked, would be wrong."""
    with pytest.raises(ChatTemplateError, match="autoescape") as caught:
        ChatTemplate(f"\n{{% autoescape {condition} %}}{{{{ messages[0].content }}}}{{% endautoescape %}}")
    assert caught.value.line == 2
    template = ChatTemplate("{% autoescape false %}<{{ messages[0].content }}>{% endautoescape %}")
    assert template.render("<") == "<<>"


def test_the_templates_own_message_is_in_the_error() -> None:
    with pytest.raises(ChatTemplateError, match="roles take turns"):
        ChatTemplate("{{ raise_exception('roles take turns') }}").render("hi")


@pytest.mark.parametrize(
    "source",
    [
        "{{ ('a' * 2000000).rfind('ab' ~ 'a' * 1000000) }}",
        "{{ ('a' * 2000000).rindex('ab' ~ 'a' * 1000000) }}",
        "{{ ('a' * 2000000).rsplit('ab' ~ 'a' * 1000000) | length }}",
        "{{ ('a' * 2000000).rpartition('ab' ~ 'a' * 1000000) | length }}",
        "{{ ('b' * 4000000).strip('a' * 3999999 ~ 'b') | length }}",
        "{{ ('b' * 4000000) | trim('a' * 3999999 ~ 'b') | length }}",
    ],
)
def test_one_call_does_not_hold_each_character_against_each(source):
    start = time.monotonic()
    with pytest.raises(TemplateLimitError):
        ChatTemplate(source).render("x")
    assert time.monotonic() - start < 5


def test_the_clock_is_looked_at_while_lists_are_added_up():
    template = ChatTemplate(
        "{{ ([[1]] * 400000) | sum(start=[]) | length }}", limits=TemplateLimits(max_seconds=1)
    )
    start = time.monotonic()
    with pytest.raises(TemplateLimitError, match="max_seconds"):
        template.render("x")
    assert time.monotonic() - start < 5


def test_sum_of_an_attribute():
    assert ChatTemplate("{{ [{'a': 2}, {'a': 3}] | sum('a', start=1) }}").render("x") == "6"


def test_a_template_too_long_to_compile_in_time_is_refused():
    with pytest.raises(TemplateLimitError, match="max_source"):
        ChatTemplate("{{ 'a' }}" * 100_000)
    assert ChatTemplate("{{ 'a' }}" * 10, limits=TemplateLimits(max_source=90)).render("x") == "a" * 10
