#!/usr/bin/env python3
"""Random formulas with their values and partial derivatives, to test a formula compiler.

A formula is a tree, drawn at random, printed with just the parentheses it needs (and at times more)
and evaluated as a tree, never from its text. Precedence, low to high:
    ?:   ||   &&   == !=   < <= > >=   + -   * /   unary - !   ^
^ is right associative and its right operand may be a unary minus; ?: is right associative; the rest
associate to the left. Comparisons and logic give 1 or 0; && || and ?: evaluate only the operands they need.

Values and derivatives (forward-mode dual numbers) are computed with 60 decimal digits and rounded to
a double. A row is kept only if double arithmetic agrees to a relative 1e-13, so that
tests can use a small tolerance. The derivatives are nan if the formula is not smooth.
"""
import decimal
import math
import random
from decimal import Decimal

FORMULAS = 300                     # each formula is evaluated at two points
KINDS = ("smooth", "mixed", "smooth", "logic")   # drawn in turn; logic has small integers and many comparisons
VARIABLES = ("n", "a", "b", "c")
FUNCTIONS_1 = ("log2", "ln", "log10", "exp", "sqrt", "ceil", "floor", "abs")
FUNCTIONS_2 = ("min", "max", "pow")
SMOOTH = {"number", "variable", "negate", "+", "-", "*", "/", "^",
          "log2", "ln", "log10", "exp", "sqrt", "pow"}
LEVEL = {"?:": 1, "||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5,
         "+": 6, "-": 6, "*": 7, "/": 7, "negate": 8, "not": 8, "^": 9}
PRIMARY = 10                       # level of numbers, variables and calls

decimal.getcontext().prec = 60
rng = random.Random(2)


# ---------------------------------------------------------------- numbers: double, decimal, dual

class Doubles:
    number = float
    ln, exp, sqrt = math.log, math.exp, math.sqrt
    log2, log10, power = math.log2, math.log10, math.pow
    floor, ceil = math.floor, math.ceil


class Decimals:
    number = Decimal
    ln, exp, sqrt, log10 = Decimal.ln, Decimal.exp, Decimal.sqrt, Decimal.log10

    @staticmethod
    def power(x, y):
        return x ** y

    @staticmethod
    def log2(x):
        guess = round(x.ln() / Decimal(2).ln())
        return Decimal(guess) if Decimal(2) ** guess == x else x.ln() / Decimal(2).ln()

    @staticmethod
    def floor(x):
        return x.to_integral_value(decimal.ROUND_FLOOR)

    @staticmethod
    def ceil(x):
        return x.to_integral_value(decimal.ROUND_CEILING)


class Dual:
    """A value and its derivatives by n and by a."""

    def __init__(self, v, d):
        self.v, self.d = v, d

    def chain(self, v, slope):
        """f(self) = v, f'(self) = slope."""
        return Dual(v, [slope * x for x in self.d])

    def __neg__(self):
        return Dual(-self.v, [-x for x in self.d])

    def __add__(self, other):
        return Dual(self.v + other.v, [x + y for x, y in zip(self.d, other.d)])

    def __sub__(self, other):
        return Dual(self.v - other.v, [x - y for x, y in zip(self.d, other.d)])

    def __mul__(self, other):
        return Dual(self.v * other.v, [x * other.v + self.v * y for x, y in zip(self.d, other.d)])

    def __truediv__(self, other):
        q = self.v / other.v
        return Dual(q, [(x - q * y) / other.v for x, y in zip(self.d, other.d)])


class Duals:
    """The smooth functions on duals whose parts belong to the given field."""

    def __init__(self, field):
        self.field = field

    def number(self, x):
        return Dual(self.field.number(x), [self.field.number(0)] * 2)

    def ln(self, x):
        return x.chain(self.field.ln(x.v), 1 / x.v)

    def log2(self, x):
        return x.chain(self.field.log2(x.v), 1 / (x.v * self.field.ln(self.field.number(2))))

    def log10(self, x):
        return x.chain(self.field.log10(x.v), 1 / (x.v * self.field.ln(self.field.number(10))))

    def exp(self, x):
        v = self.field.exp(x.v)
        return x.chain(v, v)

    def sqrt(self, x):
        v = self.field.sqrt(x.v)
        return x.chain(v, 1 / (2 * v))

    def power(self, x, y):
        v = self.field.power(x.v, y.v)
        if not any(y.d):                                    # x^constant
            return x.chain(v, y.v * self.field.power(x.v, y.v - 1)) if any(x.d) else x.chain(v, 0 * v)
        slope_y = v * self.field.ln(x.v)                    # refuses x <= 0: not smooth there
        return Dual(v, [y.v * v / x.v * dx + slope_y * dy for dx, dy in zip(x.d, y.d)])


# ---------------------------------------------------------------- trees: (operator, operands...)

def evaluate(tree, at, field):
    """The tree's value with the variables given by `at`, in the arithmetic of the field."""
    op = tree[0]
    if op == "number":
        return field.number(float(tree[1]))
    if op == "variable":
        return at[tree[1]]
    x = evaluate(tree[1], at, field)
    if op == "?:":
        return evaluate(tree[2] if x != 0 else tree[3], at, field)
    if op == "&&":
        return field.number(x != 0 and evaluate(tree[2], at, field) != 0)
    if op == "||":
        return field.number(x != 0 or evaluate(tree[2], at, field) != 0)
    if op == "not":
        return field.number(x == 0)
    if op == "negate":
        return -x
    if op == "abs":
        return abs(x)
    if op in FUNCTIONS_1:
        return getattr(field, op)(x)
    y = evaluate(tree[2], at, field)
    if op == "+":
        return x + y
    if op == "-":
        return x - y
    if op == "*":
        return x * y
    if op == "/":
        return x / y
    if op in ("^", "pow"):
        return field.power(x, y)
    if op == "min":
        return x if x <= y else y
    if op == "max":
        return x if x >= y else y
    return field.number({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y,
                         "==": x == y, "!=": x != y}[op])


def operators(tree):
    """All operators of the tree, leaves included."""
    yield tree[0]
    for part in tree[1:]:
        if isinstance(part, tuple):
            yield from operators(part)


def variables(tree):
    if tree[0] == "variable":
        return {tree[1]}
    return set().union(*(variables(part) for part in tree[1:] if isinstance(part, tuple)))


def draw_leaf(kind):
    if rng.random() < 0.62:
        return ("variable", rng.choice(("n", "n", "a", "a", "b", "c")))
    if kind == "logic":
        return ("number", rng.choice("00123"))
    return ("number", rng.choice((
        str(rng.randint(0, 12)), str(rng.randint(1, 9)) + ".", "." + str(rng.randint(1, 99)),
        f"{rng.uniform(0, 20):.2f}", f"{rng.randint(1, 9)}e{rng.randint(-3, 3)}",
        f"{rng.uniform(1, 9):.1f}e+{rng.randint(0, 2)}", "2", "1", "1e-3", ".5")))


# how often each family of operators is drawn
WEIGHTS = {"smooth": {"arithmetic": 60, "power": 12, "negate": 8, "function": 20},
           "mixed": {"arithmetic": 48, "power": 10, "negate": 8, "function": 26,
                     "comparison": 8, "logic": 4, "not": 2, "?:": 5},
           "logic": {"arithmetic": 14, "power": 2, "negate": 6, "function": 2,
                     "comparison": 28, "logic": 32, "not": 6, "?:": 10}}


def draw(depth, kind):
    """A random tree of one of the KINDS."""
    if depth == 0 or rng.random() < 0.08:
        return draw_leaf(kind)

    def sub(op=None):
        """A random operand; if a few trials find one, an operand that needs no parentheses."""
        for _ in range(4):
            tree = draw(depth - 1, kind)
            if op is None or LEVEL.get(tree[0], PRIMARY) >= LEVEL[op]:
                break
        return tree

    family = rng.choices(list(WEIGHTS[kind]), WEIGHTS[kind].values())[0]
    if family == "arithmetic":
        return (rng.choice("++--**//"), sub(), sub())
    if family == "power":
        exponent = sub() if rng.random() < 0.5 else draw_leaf(kind)
        if rng.random() < 0.3:
            exponent = ("^", draw_leaf(kind), draw_leaf(kind))
        if rng.random() < 0.3:
            exponent = ("negate", exponent)
        return ("^", sub(), exponent)
    if family == "function":
        names = FUNCTIONS_1 + FUNCTIONS_2
        name = rng.choice([f for f in names if f in SMOOTH] if kind == "smooth" else names)
        return (name, sub(), sub()) if name in FUNCTIONS_2 else (name, sub())
    if family == "comparison":
        op = rng.choice(("<", "<=", ">", ">=", "==", "!="))
        return (op, sub(op), sub(op))
    if family == "logic":
        op = rng.choice(("&&", "||"))
        return (op, sub(op), sub(op))
    if family == "?:":
        return ("?:", sub(), sub(), sub())
    return (family, sub())                                  # negate, not


def draw_logic():
    """A condition in which precedence matters, converted to a value that is not near zero."""
    def sub():
        return draw(rng.choice((0, 1, 2)), "logic")

    compare = rng.choice(("<", "<=", ">", ">="))
    equal = rng.choice(("==", "!="))
    tree = rng.choice((("||", ("&&", sub(), sub()), sub()), ("||", sub(), ("&&", sub(), sub())),
                       (equal, sub(), (compare, sub(), sub())), (compare, (compare, sub(), sub()), sub()),
                       ("&&", ("not", sub()), (equal, sub(), sub())), draw(4, "logic")))
    if rng.random() < 0.3:
        return ("+", ("number", "1"), tree)
    return ("?:", tree, ("number", "5"), ("+", ("number", "7"), ("variable", "b")))


def tokens(tree, least=0):
    """The tree as tokens, in parentheses if its precedence is below `least` (sometimes also if it is not)."""
    op = tree[0]
    level = LEVEL.get(op, PRIMARY)
    if op in ("number", "variable"):
        out = [tree[1]]
    elif level == PRIMARY:                                  # a call
        out = [op, "("] + tokens(tree[1])
        for part in tree[2:]:
            out += [","] + tokens(part)
        out += [")"]
    elif op == "?:":
        out = tokens(tree[1], 2) + ["?"] + tokens(tree[2], 1) + [":"] + tokens(tree[3], 1)
    elif op in ("negate", "not"):
        out = ["-" if op == "negate" else "!"] + tokens(tree[1], 8)
    elif op == "^":
        bare_minus = tree[2][0] == "negate" and tree[2][1][0] not in ("negate", "not")
        out = tokens(tree[1], PRIMARY) + ["^"] + tokens(tree[2], 8 if bare_minus else 9)
    else:
        out = tokens(tree[1], level) + [op] + tokens(tree[2], level + 1)
    if level < least or rng.random() < 0.06:
        out = ["("] + out + [")"]
    return out


def text(tree):
    """Tokens with spaces: none, everywhere, or here and there."""
    chance = rng.choice((0, 0.3, 0.5, 1))
    out = ""
    for token in tokens(tree):
        if out and rng.random() < chance:
            out += " " * rng.choice((1, 1, 1, 2))
        out += token
    return out


def draw_point(kind):
    if kind == "logic":                                     # small numbers, so that comparisons of equal values are likely
        return {"n": float(rng.randint(1, 3)), "a": rng.choice((0.5, 1.0, 2.0, 3.0)),
                "b": float(rng.randint(-1, 2)), "c": float(rng.randint(0, 2))}
    return {"n": float(rng.choice((1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 16, 25, 32, 50, 64, 100, 128, 1000))),
            "a": round(rng.uniform(0.05, 9), 3),
            "b": round(rng.uniform(-4, 4), 2),
            "c": rng.choice((0.0, 1.0, 2.0, 0.25, -1.0, 3.5, 20.0, 1e-3, round(rng.uniform(0, 50), 1)))}


# ---------------------------------------------------------------- rows

class Refused(Exception):
    """Raised if the value of the formula at the point is not reliable."""


def compute(tree, point, smooth):
    """[value] or, if smooth, [value, d/dn, d/da]: in doubles and in decimals, which must agree."""
    results = []
    for field in (Doubles, Decimals):
        at = {name: field.number(x) for name, x in point.items()}
        if smooth:
            seeds = {"n": [1, 0], "a": [0, 1]}
            at = {name: Dual(x, [field.number(d) for d in seeds.get(name, [0, 0])])
                  for name, x in at.items()}
            dual = evaluate(tree, at, Duals(field))
            results.append([dual.v] + dual.d)
        else:
            results.append([field.number(evaluate(tree, at, field))])
    exact = [float(x) for x in results[1]]
    for rough, fine in zip(results[0], exact):
        if not (math.isfinite(fine) and abs(rough - fine) <= 1e-13 * abs(fine)):   # also refuses a nan
            raise Refused
        if fine != 0 and not 1e-12 <= abs(fine) <= 1e15:    # also checked for derivatives
            raise Refused
    if not 1e-6 <= abs(exact[0]) <= 1e12:
        raise Refused
    return [x + 0.0 for x in exact]                         # the addition changes -0 to 0


def rows():
    made = 0
    seen = set()
    while made < FORMULAS:
        kind = KINDS[made % len(KINDS)]
        smooth = kind == "smooth"
        tree = draw_logic() if kind == "logic" else draw(rng.choice((3, 4, 4, 5, 6)), kind)
        ops = list(operators(tree))
        if smooth != SMOOTH.issuperset(ops) or not 5 <= len(ops) <= 40:
            continue
        if not variables(tree) >= {"n", "a"} and (smooth or len(variables(tree)) < 2):
            continue
        formula = text(tree)
        results = []
        for _ in range(12):                                 # look for two points where it is defined
            point = draw_point(kind)
            try:
                results.append((point, compute(tree, point, smooth)))
            except (Refused, ArithmeticError, ValueError):
                continue
            if len(results) == 2:
                break
        if len(results) < 2 or results[0][1][0] == results[1][1][0] or formula in seen:
            continue
        seen.add(formula)
        made += 1
        for point, values in results:
            values = values if smooth else values + [math.nan] * 2
            yield [formula] + [repr(point[name]) for name in VARIABLES] + [repr(x) for x in values]


print("# made by formulas.py")
print("\t".join(("formula",) + VARIABLES + ("value", "dvalue_dn", "dvalue_da")))
for row in rows():
    print("\t".join(row))
