"""Tokens -> the tree of a condition, by the precedence of Spark's grammar.

    condition   = and (OR and)*
    and         = not (AND not)*
    not         = (NOT | !) not | predicate
    predicate   = operand [comparison operand | [NOT] IN (...) | [NOT] BETWEEN a AND b
                  | [NOT] LIKE text [ESCAPE c] | IS [NOT] (NULL | TRUE | FALSE | UNKNOWN)
                  | IS [NOT] DISTINCT FROM operand]
    operand     = column | literal | ( condition )

BETWEEN, IN, IS DISTINCT FROM and the truth tests become comparisons. SQL beyond this is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from truckee.conditions.literals import NULL, TRUE, ConstantValue, number, typed_text
from truckee.conditions.tokens import Token, near, tokens
from truckee.errors.conditions import (
    ConditionSyntaxError,
    ConditionTooDeepError,
    UnsupportedConditionError,
)

_COMPARISONS = {"=": "=", "==": "=", "<>": "!=", "!=": "!="} | {
    op: op for op in ("<", "<=", ">", ">=", "<=>")
}
_TYPED = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_KEYWORDS = ("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS", "NULL")
# All that follows walks the tree by recursion, with fewer calls a level than the parser.
_DEEPEST = 100
_EXPRESSIONS = ("CASE", "CAST", "EXISTS", "INTERVAL", "SELECT")


class NameSyntax(Struct, frozen=True):
    """A column by its names, outermost struct first."""

    path: tuple[str, ...]


class ComparisonSyntax(Struct, frozen=True):
    """`left op right`; op is one of = != < <= > >= <=>."""

    op: str
    left: Syntax
    right: Syntax


class InSyntax(Struct, frozen=True):
    """`operand IN (items)`."""

    operand: Syntax
    items: tuple[Syntax, ...]


class LikeSyntax(Struct, frozen=True):
    """`operand LIKE pattern`."""

    operand: Syntax
    pattern: str
    escape: str


class IsNullSyntax(Struct, frozen=True):
    """`operand IS NULL`."""

    operand: Syntax


class AndSyntax(Struct, frozen=True):
    """All of these, by AND."""

    operands: tuple[Syntax, ...]


class OrSyntax(Struct, frozen=True):
    """One of these, by OR."""

    operands: tuple[Syntax, ...]


class NotSyntax(Struct, frozen=True):
    """NOT of something."""

    operand: Syntax


Syntax: TypeAlias = (
    NameSyntax
    | ConstantValue
    | ComparisonSyntax
    | InSyntax
    | LikeSyntax
    | IsNullSyntax
    | AndSyntax
    | OrSyntax
    | NotSyntax
)


def condition_syntax(condition: str) -> Syntax:
    """Return the tree of a condition.

    Raises `ConditionSyntaxError`, `ConditionTooDeepError`, and `UnsupportedConditionError` for SQL
    beyond this grammar.
    """
    return _Parser(condition).whole()


class _Parser:
    def __init__(self, condition: str) -> None:
        self._condition = condition
        self._tokens = tokens(condition)
        self._place = 0
        self._depth = 0

    def whole(self) -> Syntax:
        tree = self._disjunction()
        if self._next.kind != "end":
            raise self._refusal()
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._next
        self._place += token.kind != "end"
        return token

    def _accept_word(self, *words: str) -> bool:
        is_there = self._next.is_word(*words)
        self._place += is_there
        return is_there

    def _accept_symbol(self, *symbols: str) -> bool:
        is_there = self._next.is_symbol(*symbols)
        self._place += is_there
        return is_there

    def _disjunction(self) -> Syntax:
        found = self._operands(self._conjunction, "OR")
        return found[0] if len(found) == 1 else OrSyntax(found)

    def _conjunction(self) -> Syntax:
        found = self._operands(self._negation, "AND")
        return found[0] if len(found) == 1 else AndSyntax(found)

    def _operands(self, operand: Callable[[], Syntax], word: str) -> tuple[Syntax, ...]:
        found = [operand()]
        while self._accept_word(word):
            found.append(operand())
        return tuple(found)

    def _negation(self) -> Syntax:
        count = 0
        while self._accept_word("NOT") or self._accept_symbol("!"):
            count += 1
        tree = self._predicate()
        # Two negations cancel out, but their operand still has to be a condition.
        for _ in range(count if count < 2 else 2 - count % 2):
            tree = NotSyntax(tree)
        return tree

    def _predicate(self) -> Syntax:
        operand = self._operand()
        if self._next.kind == "symbol" and self._next.value in _COMPARISONS:
            op = _COMPARISONS[self._take().value]
            return ComparisonSyntax(op, operand, self._operand())
        if self._accept_word("IS"):
            return self._test(operand)
        is_negated = self._accept_word("NOT")
        found = self._range_or_list(operand)
        if found is None:
            if is_negated:
                raise self._refusal()
            return operand
        return NotSyntax(found) if is_negated else found

    def _range_or_list(self, operand: Syntax) -> Syntax | None:
        if self._accept_word("IN"):
            return InSyntax(operand, self._items())
        if self._accept_word("BETWEEN"):
            low = self._operand()
            self._expect_word("AND")
            high = self._operand()
            bounds = ((">=", low), ("<=", high))
            return AndSyntax(tuple(ComparisonSyntax(op, operand, end) for op, end in bounds))
        if self._accept_word("LIKE"):
            return self._like(operand)
        return None

    def _items(self) -> tuple[Syntax, ...]:
        self._expect_symbol("(")
        if self._next.is_word("SELECT", "WITH"):
            raise self._unsupported("a subquery")
        items = [self._operand()]
        while self._accept_symbol(","):
            items.append(self._operand())
        self._expect_symbol(")")
        return tuple(items)

    def _like(self, operand: Syntax) -> Syntax:
        if self._next.is_word("ANY", "ALL", "SOME"):
            raise self._unsupported(f"LIKE {self._next.value.upper()}")
        if self._next.kind != "text":
            raise self._unsupported("a pattern of LIKE that is no literal")
        pattern, escape = self._take().value, "\\"
        if self._accept_word("ESCAPE"):
            if self._next.kind != "text" or len(self._next.value) != 1:
                raise self._expected("one character in quotes")
            escape = self._take().value
        return LikeSyntax(operand, pattern, escape)

    def _test(self, operand: Syntax) -> Syntax:
        is_negated = self._accept_word("NOT")
        found = self._truth_test(operand)
        return NotSyntax(found) if is_negated else found

    def _truth_test(self, operand: Syntax) -> Syntax:
        token = self._take()
        if token.is_word("NULL"):
            return IsNullSyntax(operand)
        if token.is_word("UNKNOWN"):
            # `= true` ensures that the operand is a condition.
            return IsNullSyntax(ComparisonSyntax("=", operand, TRUE))
        if token.is_word("TRUE", "FALSE"):
            return ComparisonSyntax("<=>", operand, ConstantValue.of(token.is_word("TRUE")))
        if token.is_word("DISTINCT"):
            self._expect_word("FROM")
            return NotSyntax(ComparisonSyntax("<=>", operand, self._operand()))
        self._place -= 1
        raise self._expected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")

    def _operand(self) -> Syntax:
        token = self._take()
        if token.is_symbol("("):
            tree = self._nested()
            self._expect_symbol(")")
            return self._without_arithmetic(tree)
        if token.is_symbol("-", "+") and self._next.kind == "number":
            sign = "-" if token.value == "-" else ""
            return self._without_arithmetic(self._number(sign + self._take().value))
        if token.kind == "number":
            return self._without_arithmetic(self._number(token.value))
        if token.kind in ("text", "bytes"):
            if self._next.kind == "text":
                raise self._unsupported("texts side by side")
            return self._constant(token)
        if token.kind in ("word", "name"):
            return self._without_arithmetic(self._word(token))
        self._place -= token.kind != "end"
        raise self._expected("a column or a value")

    def _nested(self) -> Syntax:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ConditionTooDeepError(condition=self._condition, limit=_DEEPEST)
        tree = self._disjunction()
        self._depth -= 1
        return tree

    def _without_arithmetic(self, tree: Syntax) -> Syntax:
        if self._next.is_symbol("+", "-", "*", "/", "%", "&", "|", "^", "~"):
            raise self._unsupported(f"the operator {self._next.value}")
        return tree

    def _word(self, token: Token) -> Syntax:
        if self._next.kind == "text" and token.kind == "word":
            if token.value.upper() not in _TYPED:
                raise self._unsupported(f"{token.value} before a text")
            text = self._take().value
            return typed_text(token.value.upper(), text, condition=self._condition)
        if token.is_word("NULL"):
            return NULL
        if token.is_word("TRUE", "FALSE"):
            return ConstantValue.of(token.is_word("TRUE"))
        if self._next.is_symbol("(") or token.is_word(*_EXPRESSIONS):
            raise self._unsupported(f"{token.value.upper()}")
        if token.is_word(*_KEYWORDS):
            self._place -= 1
            raise self._expected("a column or a value")
        path = [token.value]
        while self._accept_symbol("."):
            part = self._take()
            if part.kind not in ("word", "name"):
                self._place -= part.kind != "end"
                raise self._expected("the name of a field")
            path.append(part.value)
        return NameSyntax(tuple(path))

    def _number(self, text: str) -> ConstantValue:
        return number(text, condition=self._condition)

    def _constant(self, token: Token) -> ConstantValue:
        if token.kind == "text":
            return ConstantValue.of(token.value)
        try:
            return ConstantValue.of(
                bytes.fromhex(token.value.rjust(-(-len(token.value) // 2) * 2, "0"))
            )
        except ValueError:
            raise self._expected("hexadecimal digits") from None

    def _expect_word(self, word: str) -> None:
        if not self._accept_word(word):
            raise self._expected(word)

    def _expect_symbol(self, symbol: str) -> None:
        if not self._accept_symbol(symbol):
            raise self._expected(symbol)

    def _expected(self, what: str) -> ConditionSyntaxError:
        place = near(self._condition, self._next.position)
        return ConditionSyntaxError(condition=self._condition, near=place, expected=what)

    def _refusal(self) -> Exception:
        if self._next.is_word("RLIKE", "REGEXP", "ILIKE") or (
            self._next.kind == "symbol" and self._next.value not in "().,"
        ):
            return self._unsupported(self._next.value.upper())
        return self._expected("AND, OR or the end")

    def _unsupported(self, what: str) -> UnsupportedConditionError:
        return UnsupportedConditionError(condition=self._condition, what=what)
