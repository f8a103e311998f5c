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
from truckee.errors.conditions import ConditionSyntaxError, UnsupportedConditionError

_COMPARISONS = {"=": "=", "==": "=", "<>": "!=", "!=": "!="} | {
    op: op for op in ("<", "<=", ">", ">=", "<=>")
}
_TYPED = ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ")
_KEYWORDS = ("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS", "NULL")
_EXPRESSIONS = ("CASE", "CAST", "EXISTS", "INTERVAL", "SELECT")


class Name(Struct, frozen=True):
    """A column by its names, outermost struct first."""

    path: tuple[str, ...]


class Compared(Struct, frozen=True):
    """`left op right`; op is one of = != < <= > >= <=>."""

    op: str
    left: Tree
    right: Tree


class Among(Struct, frozen=True):
    """`operand IN (items)`."""

    operand: Tree
    items: tuple[Tree, ...]


class Alike(Struct, frozen=True):
    """`operand LIKE pattern`."""

    operand: Tree
    pattern: str
    escape: str


class Missing(Struct, frozen=True):
    """`operand IS NULL`."""

    operand: Tree


class All(Struct, frozen=True):
    """All of these, by AND."""

    operands: tuple[Tree, ...]


class Any(Struct, frozen=True):
    """One of these, by OR."""

    operands: tuple[Tree, ...]


class Negated(Struct, frozen=True):
    """NOT of something."""

    operand: Tree


Tree: TypeAlias = Name | ConstantValue | Compared | Among | Alike | Missing | All | Any | Negated


def parsed(condition: str) -> Tree:
    """Return the tree of a condition.

    Raises `ConditionSyntaxError`, and `UnsupportedConditionError` for SQL that is not known here.
    """
    return _Parser(condition).whole()


class _Parser:
    def __init__(self, condition: str) -> None:
        self._condition = condition
        self._tokens = tokens(condition)
        self._place = 0

    def whole(self) -> Tree:
        tree = self._either()
        if self._next.kind != "end":
            raise self._refused()
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _take(self) -> Token:
        token = self._next
        self._place += token.kind != "end"
        return token

    def _took_word(self, *words: str) -> bool:
        is_there = self._next.is_word(*words)
        self._place += is_there
        return is_there

    def _took_symbol(self, *symbols: str) -> bool:
        is_there = self._next.is_symbol(*symbols)
        self._place += is_there
        return is_there

    def _either(self) -> Tree:
        found = self._joined(self._both, "OR")
        return found[0] if len(found) == 1 else Any(found)

    def _both(self) -> Tree:
        found = self._joined(self._negation, "AND")
        return found[0] if len(found) == 1 else All(found)

    def _joined(self, operand: Callable[[], Tree], word: str) -> tuple[Tree, ...]:
        found = [operand()]
        while self._took_word(word):
            found.append(operand())
        return tuple(found)

    def _negation(self) -> Tree:
        if self._took_word("NOT") or self._took_symbol("!"):
            return Negated(self._negation())
        return self._predicate()

    def _predicate(self) -> Tree:
        operand = self._operand()
        if self._next.kind == "symbol" and self._next.value in _COMPARISONS:
            op = _COMPARISONS[self._take().value]
            return Compared(op, operand, self._operand())
        if self._took_word("IS"):
            return self._test(operand)
        is_negated = self._took_word("NOT")
        found = self._range_or_list(operand)
        if found is None:
            if is_negated:
                raise self._refused()
            return operand
        return Negated(found) if is_negated else found

    def _range_or_list(self, operand: Tree) -> Tree | None:
        if self._took_word("IN"):
            return Among(operand, self._items())
        if self._took_word("BETWEEN"):
            low = self._operand()
            self._expect_word("AND")
            high = self._operand()
            return All((Compared(">=", operand, low), Compared("<=", operand, high)))
        if self._took_word("LIKE"):
            return self._like(operand)
        return None

    def _items(self) -> tuple[Tree, ...]:
        self._expect_symbol("(")
        if self._next.is_word("SELECT", "WITH"):
            raise self._unsupported("a subquery")
        items = [self._operand()]
        while self._took_symbol(","):
            items.append(self._operand())
        self._expect_symbol(")")
        return tuple(items)

    def _like(self, operand: Tree) -> Tree:
        if self._next.is_word("ANY", "ALL", "SOME"):
            raise self._unsupported(f"LIKE {self._next.value.upper()}")
        if self._next.kind != "text":
            raise self._unsupported("a pattern of LIKE that is no literal")
        pattern, escape = self._take().value, "\\"
        if self._took_word("ESCAPE"):
            if self._next.kind != "text" or len(self._next.value) != 1:
                raise self._expected("one character in quotes")
            escape = self._take().value
        return Alike(operand, pattern, escape)

    def _test(self, operand: Tree) -> Tree:
        is_negated = self._took_word("NOT")
        found = self._tested(operand)
        return Negated(found) if is_negated else found

    def _tested(self, operand: Tree) -> Tree:
        token = self._take()
        if token.is_word("NULL"):
            return Missing(operand)
        if token.is_word("UNKNOWN"):
            # The operand is a condition, which `= true` makes sure of.
            return Missing(Compared("=", operand, TRUE))
        if token.is_word("TRUE", "FALSE"):
            return Compared("<=>", operand, ConstantValue.of(token.is_word("TRUE")))
        if token.is_word("DISTINCT"):
            self._expect_word("FROM")
            return Negated(Compared("<=>", operand, self._operand()))
        self._place -= 1
        raise self._expected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")

    def _operand(self) -> Tree:
        token = self._take()
        if token.is_symbol("("):
            tree = self._either()
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

    def _without_arithmetic(self, tree: Tree) -> Tree:
        if self._next.is_symbol("+", "-", "*", "/", "%", "&", "|", "^", "~"):
            raise self._unsupported(f"the operator {self._next.value}")
        return tree

    def _word(self, token: Token) -> Tree:
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
        while self._took_symbol("."):
            part = self._take()
            if part.kind not in ("word", "name"):
                self._place -= part.kind != "end"
                raise self._expected("the name of a field")
            path.append(part.value)
        return Name(tuple(path))

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
        if not self._took_word(word):
            raise self._expected(word)

    def _expect_symbol(self, symbol: str) -> None:
        if not self._took_symbol(symbol):
            raise self._expected(symbol)

    def _expected(self, what: str) -> ConditionSyntaxError:
        place = near(self._condition, self._next.position)
        return ConditionSyntaxError(condition=self._condition, near=place, expected=what)

    def _refused(self) -> Exception:
        if self._next.is_word("RLIKE", "REGEXP", "ILIKE") or (
            self._next.kind == "symbol" and self._next.value not in "().,"
        ):
            return self._unsupported(self._next.value.upper())
        return self._expected("AND, OR or the end")

    def _unsupported(self, what: str) -> UnsupportedConditionError:
        return UnsupportedConditionError(condition=self._condition, what=what)
