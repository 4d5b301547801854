#!/usr/bin/env python3
"""Checks formulas.tsv from the text alone: a recursive-descent parser of its own, plain doubles, and
derivatives by central differences. Usage: check_formulas.py [formulas.tsv]
"""
import math
import re
import sys

TOKEN = re.compile(r" *((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[a-z]\w*|<=|>=|==|!=|&&|\|\||[-+*/^()<>!?:,])")
BINARY = [("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/")]
CALLS = {"log2": math.log2, "ln": math.log, "log10": math.log10, "exp": math.exp, "sqrt": math.sqrt,
         "ceil": math.ceil, "floor": math.floor, "abs": abs, "min": min, "max": max, "pow": math.pow}
APPLY = {"==": lambda x, y: x() == y(), "!=": lambda x, y: x() != y(),
         "<": lambda x, y: x() < y(), "<=": lambda x, y: x() <= y(),
         ">": lambda x, y: x() > y(), ">=": lambda x, y: x() >= y(),
         "+": lambda x, y: x() + y(), "-": lambda x, y: x() - y(),
         "*": lambda x, y: x() * y(), "/": lambda x, y: x() / y(),
         "&&": lambda x, y: x() != 0 and y() != 0, "||": lambda x, y: x() != 0 or y() != 0}


class Parser:
    """Turns text into a closure without arguments; `at` holds the variables."""

    def __init__(self, source, at):
        self.at = at
        self.tokens = []
        where = 0
        while where < len(source.rstrip()):
            match = TOKEN.match(source, where)
            self.tokens.append(match.group(1))
            where = match.end()
        self.tokens.append("")
        self.i = 0

    def take(self, *wanted):
        if self.tokens[self.i] in wanted:
            self.i += 1
            return self.tokens[self.i - 1]
        return None

    def need(self, token):
        assert self.take(token), (token, self.tokens, self.i)

    def whole(self):
        value = self.ternary()
        assert self.tokens[self.i] == "", (self.tokens, self.i)
        return value

    def ternary(self):
        test = self.binary(0)
        if not self.take("?"):
            return test
        yes = self.ternary()
        self.need(":")
        no = self.ternary()
        return lambda: yes() if test() != 0 else no()

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while op := self.take(*BINARY[level]):
            right = self.binary(level + 1)
            left = (lambda f, x, y: lambda: float(f(x, y)))(APPLY[op], left, right)
        return left

    def unary(self):
        if self.take("-"):
            x = self.unary()
            return lambda: -x()
        if self.take("!"):
            x = self.unary()
            return lambda: float(x() == 0)
        return self.power()

    def power(self):
        base = self.primary()
        if not self.take("^"):
            return base
        exponent = self.unary() if self.tokens[self.i] == "-" else self.power()
        return lambda: math.pow(base(), exponent())

    def primary(self):
        token = self.tokens[self.i]
        self.i += 1
        if token == "(":
            inside = self.ternary()
            self.need(")")
            return inside
        if token in CALLS:
            self.need("(")
            arguments = [self.ternary()]
            while self.take(","):
                arguments.append(self.ternary())
            self.need(")")
            return lambda: float(CALLS[token](*(x() for x in arguments)))
        if token in self.at:
            return lambda: self.at[token]
        number = float(token)
        return lambda: number


def main():
    worst = worst_slope = 0.0
    count = slopes = skipped = 0
    for line in open(sys.argv[1] if len(sys.argv) > 1 else "formulas.tsv"):
        if line.startswith("#") or line.startswith("formula\t"):
            continue
        fields = line.rstrip("\n").split("\t")
        at = dict(zip("nabc", map(float, fields[1:5])))
        formula = Parser(fields[0], at).whole()
        value = float(fields[5])
        worst = max(worst, abs(formula() - value) / abs(value))
        assert worst < 1e-12, line
        count += 1
        for name, field in zip("na", fields[6:8]):
            if field == "nan":
                continue
            x = at[name]

            def slope(step):
                at[name] = x + step
                up = formula()
                at[name] = x - step
                down = formula()
                at[name] = x
                return (up - down) / (2 * step)

            h = 2e-4 * x
            try:                                            # two Richardson steps on central differences
                d = [slope(h), slope(h / 2), slope(h / 4)]
            except (ValueError, ArithmeticError):
                skipped += 1
                continue
            e = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
            estimate = (16 * e[1] - e[0]) / 15
            error = abs(estimate - float(field)) / (abs(float(field)) + abs(value / x))
            if error > 1e-6:
                print(f"d/d{name} {field} but by differences {estimate!r}: {line}", end="")
            slopes += 1
            worst_slope = max(worst_slope, error)
    print(f"{count} values, worst relative error {worst:.1e}; {slopes} derivatives, worst {worst_slope:.1e}; "
          f"{skipped} too near the edge of the domain for differences")


main()
