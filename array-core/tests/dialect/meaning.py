"""Turns the C++ texts of a kernel into a Python function over NumPy scalars.

This is a second implementation of the dialect (``array-core/docs/dialect.md``). It shares no code
with the compiler in C++, so each can check the other. It knows the part of C++ that Chainer's
kernels use, and raises on anything else.

    run = elementwise(texts, {"x": "int64", "y": "int64"})
    run(loop, {"x": array, "y": array})       # writes y

It is slow on purpose: it computes one element after the other, with NumPy scalars.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arithmetic import MATHEMATICS, NAMES, TYPES, common, is_floating, promoted

Arguments = Mapping[str, Any]  # a parameter's array, or its NumPy scalar
TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/"
    r"|(?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<mark><=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%]=|[-+*/%<>=!&?:;,.(){}\[\]])",
    re.S,
)
BINARY = [["||"], ["&&"], ["&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]


class Unknown(Exception):
    """The text is outside the part of C++ that this module knows."""


def tokens(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise Unknown(f"a token at {text[at : at + 20]!r}")
        at = match.end()
        if match.lastgroup:
            yield match.group()


def preprocess(preamble: str) -> tuple[str, dict[str, list[str]]]:
    """Return the preamble without its directives, and its macros."""
    macros: dict[str, list[str]] = {}
    kept = []
    for line in preamble.replace("\\\n", " ").split("\n"):
        words = line.split(None, 2)
        if not words or not words[0].startswith("#"):
            kept.append(line)
        elif words[0] == "#define" and "(" not in words[1]:
            macros[words[1]] = list(tokens(words[2] if len(words) > 2 else ""))
        elif words[0] != "#include":
            raise Unknown(line)
    return "\n".join(kept), macros


def expand(text: str, macros: Mapping[str, list[str]]) -> list[str]:
    out: list[str] = []
    for token in tokens(text):
        out += macros.get(token, [token])
    return out


@dataclass
class Value:
    """An expression: its Python text and its dtype. ``store`` gives the text of an assignment."""

    text: str
    dtype: str
    store: Callable[[str], str] | None = None
    address: str = ""  # "array, index" of an element, for atomics
    members: list[str] | None = None  # the elements of an array of indices


@dataclass
class Parameter:
    name: str
    dtype: str
    raw: bool = False
    reference: bool = False


@dataclass
class Function:
    letter: str | None
    result: str
    parameters: list[Parameter]  # `dtype` is the type as it is written
    body: list[str]


@dataclass
class Module:
    """The Python code that is generated for one kernel."""

    types: dict[str, str]  # from type letters and C++'s type names to dtypes
    floating: str
    functions: dict[str, Function] = field(default_factory=dict)
    made: dict[tuple[str, ...], str] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def constant(self, value: Any, dtype: str) -> str:
        name = f"k_{dtype}_{len(self.constants)}"
        self.constants[name] = TYPES[dtype](value)
        return name


def converted(value: Value, to: str) -> str:
    if value.members is not None:
        raise Unknown("an array as a value")
    if value.dtype == to:
        return value.text
    if to == "bool":
        return f"({value.text} != 0)"
    if is_floating(value.dtype) and not is_floating(to):
        return f"truncated({value.text}, {to})"
    if value.dtype == "bool" or is_floating(to):
        return f"{to}({value.text})"
    return f"{value.text}.astype({to})"


class Reader:
    """Reads one text and writes the lines of one Python function."""

    def __init__(self, module: Module, text: Sequence[str], names: dict[str, Value]) -> None:
        self.module = module
        self.text = text
        self.at = 0
        self.scopes: list[dict[str, Value]] = [names, {}]
        self.lines: list[str] = []
        self.depth = 1
        self.steps: list[str | None] = []  # the steps of the enclosing loops
        self.ending = "return"  # what leaves the function
        self.result: str | None = None  # type that `return` converts to; None: no value
        self.locals = 0

    # ---- tokens
    @property
    def token(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self) -> str:
        token = self.token
        self.at += 1
        return token

    def accept(self, *wanted: str) -> bool:
        if self.token in wanted and self.token:
            self.at += 1
            return True
        return False

    def expect(self, wanted: str) -> None:
        if not self.accept(wanted):
            raise Unknown(f"{wanted!r} instead of {self.token!r}")

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    # ---- names
    def find(self, name: str) -> Value:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        raise Unknown(f"the name {name!r}")

    def declare(self, name: str, dtype: str) -> Value:
        self.locals += 1
        python = f"{name}_{self.locals}"
        value = Value(python, dtype, lambda new: f"({python} := {new})")
        self.scopes[-1][name] = value
        return value

    def type_ahead(self) -> bool:
        return self.token == "const" or self.token in self.module.types

    def type(self) -> str:
        while self.accept("const"):
            pass
        name = self.take()
        if name not in self.module.types:
            raise Unknown(f"the type {name!r}")
        while self.accept("const"):
            pass
        return self.module.types[name]

    # ---- statements
    def block(self) -> None:
        self.scopes.append({})
        before = len(self.lines)
        if self.accept("{"):
            while not self.accept("}"):
                self.statement()
        else:
            self.statement()
        if len(self.lines) == before:
            self.write("pass")
        self.scopes.pop()

    def nested(self, head: str) -> None:
        self.write(head)
        self.depth += 1
        self.block()
        self.depth -= 1

    def statement(self) -> None:
        if self.accept(";"):
            return
        if self.token == "{":
            self.nested("if True:")
        elif self.accept("if"):
            self.branch()
        elif self.accept("for"):
            self.loop()
        elif self.accept("continue"):
            self.expect(";")
            if not self.steps:
                self.write(self.ending)
            else:
                if self.steps[-1]:
                    self.write(self.steps[-1])
                self.write("continue")
        elif self.accept("return"):
            if self.result is None:
                self.expect(";")
                self.write(self.ending)
            else:
                self.write(self.ending.format(converted(self.expression(), self.result)))
                self.expect(";")
        elif self.type_ahead() and self.text[self.at + 1] != "(":
            self.declaration()
        else:
            self.write(self.expression().text)
            self.end()

    def end(self) -> None:
        if self.token:  # the last statement of a text needs no semicolon
            self.expect(";")

    def branch(self) -> None:
        self.expect("(")
        condition = converted(self.expression(), "bool")
        self.expect(")")
        self.nested(f"if {condition}:")
        if self.accept("else"):
            self.nested("else:")

    def loop(self) -> None:
        self.expect("(")
        self.scopes.append({})
        self.statement()  # with its semicolon
        condition = converted(self.expression(), "bool")
        self.expect(";")
        step = self.expression().text
        self.expect(")")
        self.write("while True:")
        self.depth += 1
        self.write(f"if not {condition}: break")
        self.steps.append(step)
        self.block()
        self.steps.pop()
        self.write(step)
        self.depth -= 1
        self.scopes.pop()

    def declaration(self) -> None:
        dtype = self.type()
        while True:
            name = self.take()
            if self.accept("["):
                self.expect("]")
                self.expect("=")
                self.expect("{")
                members = [converted(self.assignment(), "int32")]
                while self.accept(","):
                    members.append(converted(self.assignment(), "int32"))
                self.expect("}")
                value = self.declare(name, dtype)
                value.members = members
                self.write(f"{value.text} = ({', '.join(members)},)")
            else:
                first = self.assignment() if self.accept("=") else None
                text = converted(first, dtype) if first else self.module.constant(0, dtype)
                self.write(f"{self.declare(name, dtype).text} = {text}")
            if not self.accept(","):
                break
        self.end()

    # ---- expressions
    def expression(self) -> Value:
        return self.assignment()

    def assign(self, target: Value, value: str) -> Value:
        if target.store is None:
            raise Unknown("an assignment to what cannot be assigned")
        return Value(target.store(value), target.dtype)

    def assignment(self) -> Value:
        left = self.ternary()
        if self.accept("="):
            return self.assign(left, converted(self.assignment(), left.dtype))
        if self.token in ("+=", "-=", "*=", "/=", "%="):
            mark = self.take()[0]
            result = self.operate(mark, left, self.assignment())
            return self.assign(left, converted(result, left.dtype))
        return left

    def ternary(self) -> Value:
        condition = self.binary(0)
        if not self.accept("?"):
            return condition
        then = self.assignment()
        self.expect(":")
        other = self.ternary()
        dtype = then.dtype if then.dtype == other.dtype else common(then.dtype, other.dtype)
        chosen = converted(condition, "bool")
        return Value(
            f"({converted(then, dtype)} if {chosen} else {converted(other, dtype)})", dtype
        )

    def binary(self, level: int) -> Value:
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.token in BINARY[level]:
            mark = self.take()
            left = self.operate(mark, left, self.binary(level + 1))
        return left

    def operate(self, mark: str, a: Value, b: Value) -> Value:
        if mark in ("&&", "||"):
            word = "and" if mark == "&&" else "or"
            return Value(f"({converted(a, 'bool')} {word} {converted(b, 'bool')})", "bool")
        dtype = common(a.dtype, b.dtype)
        x, y = converted(a, dtype), converted(b, dtype)
        if mark in ("==", "!=", "<", "<=", ">", ">="):
            return Value(f"({x} {mark} {y})", "bool")
        if mark in ("/", "%") and not is_floating(dtype):
            return Value(f"{'quotient' if mark == '/' else 'rest'}({x}, {y})", dtype)
        if mark in ("%", "&") and is_floating(dtype):
            raise Unknown(f"{mark} of floats")
        return Value(f"({x} {mark} {y})", dtype)

    def unary(self) -> Value:
        if self.accept("-"):
            value = self.unary()
            dtype = promoted(value.dtype)
            return Value(f"(-{converted(value, dtype)})", dtype)
        if self.accept("+"):
            value = self.unary()
            return Value(converted(value, promoted(value.dtype)), promoted(value.dtype))
        if self.accept("!"):
            return Value(f"(not {converted(self.unary(), 'bool')})", "bool")
        if self.token in ("++", "--"):
            return self.step(self.take(), self.unary())
        if self.token == "(" and (
            self.text[self.at + 1] == "const" or self.text[self.at + 1] in self.module.types
        ):
            self.take()
            dtype = self.type()
            self.expect(")")
            return Value(converted(self.unary(), dtype), dtype)
        value = self.primary()
        if self.token in ("++", "--"):
            mark = self.take()
            after = self.step(mark, value)
            back = self.operate("-" if mark == "++" else "+", after, self.one())
            return Value(converted(back, value.dtype), value.dtype)
        return value

    def one(self) -> Value:
        return Value(self.module.constant(1, "int32"), "int32")

    def step(self, mark: str, value: Value) -> Value:
        return self.assign(value, converted(self.operate(mark[0], value, self.one()), value.dtype))

    def number(self, text: str) -> Value:
        if re.fullmatch(r"\d+", text):
            return Value(self.module.constant(int(text), "int32"), "int32")
        dtype = "float32" if text[-1] in "fF" else self.module.floating
        return Value(self.module.constant(float(text.rstrip("fF")), dtype), dtype)

    def primary(self) -> Value:
        token = self.take()
        if token == "(":
            value = self.expression()
            self.expect(")")
            return Value(f"({value.text})", value.dtype)
        if token[0].isdigit() or token[0] == ".":
            return self.number(token)
        if token == "static_cast":
            self.expect("<")
            dtype = self.type()
            self.expect(">")
            return Value(converted(self.arguments()[0], dtype), dtype)
        if token in self.module.types:
            dtype = self.module.types[token]
            return Value(converted(self.arguments()[0], dtype), dtype)
        if token == "atomicAdd":
            return self.atomic_add()
        if self.token == "(":
            return self.call(token)
        if token in ("true", "false"):
            return Value(self.module.constant(token == "true", "bool"), "bool")
        value = self.find(token)
        if self.accept("["):
            value = self.element(value, self.expression())
            self.expect("]")
        while self.accept("."):
            value = self.member(value, self.take())
        return value

    def element(self, array: Value, index: Value) -> Value:
        at = index.text if index.members is not None else converted(index, "int32")
        if array.address != "raw":
            raise Unknown("an index of what is not raw")
        return Value(
            f"get({array.text}, {at})",
            array.dtype,
            lambda new: f"put({array.text}, {at}, {new})",
            f"{array.text}, {at}",
        )

    def member(self, value: Value, name: str) -> Value:
        if self.arguments():
            raise Unknown(f"arguments of {name!r}")
        if name == "size" and value.address == "raw":
            return Value(f"int32({value.text}.size)", "int32")
        if name == "shape" and value.address == "raw":
            self.expect("[")
            axis = int(self.take())
            self.expect("]")
            return Value(f"int32({value.text}.shape[{axis}])", "int32")
        raise Unknown(f"the member {name!r}")

    def arguments(self) -> list[Value]:
        self.expect("(")
        out: list[Value] = []
        while not self.accept(")"):
            out.append(self.assignment())
            if self.token != ")":
                self.expect(",")
        return out

    def atomic_add(self) -> Value:
        self.expect("(")
        self.expect("&")
        target = self.primary()
        self.expect(",")
        value = converted(self.assignment(), target.dtype)
        self.expect(")")
        if not target.address:
            raise Unknown("an atomic update of what is no element")
        return Value(f"add({target.address}, {value})", target.dtype)

    def call(self, name: str) -> Value:
        given = self.arguments()
        if name in self.module.functions:
            return self.call_own(name, given)
        if name == "assert":
            return Value("None", "int32")
        if name in ("min", "max"):
            dtype = common(given[0].dtype, given[1].dtype)
            texts = ", ".join(converted(v, dtype) for v in given)
            return Value(f"{name}_of({texts})", dtype)
        if name not in MATHEMATICS:
            raise Unknown(f"the function {name!r}")
        floats = [promoted(v.dtype) for v in given if is_floating(v.dtype)]
        dtype = self.module.floating
        if floats:
            dtype = "float64" if "float64" in floats else "float32"
        texts = ", ".join(converted(v, dtype) for v in given)
        value = Value(f"{dtype}(m_{name}({texts}))", dtype)
        return Value(converted(value, "int32"), "int32") if name == "__float2int_rd" else value

    def call_own(self, name: str, given: list[Value]) -> Value:
        """Call a function of the preamble. The call also assigns new values to arguments that the
        function takes by reference.
        """
        function = self.module.functions[name]
        types = dict(self.module.types)
        if function.letter:
            types[function.letter] = next(
                value.dtype
                for value, p in zip(given, function.parameters, strict=True)
                if p.dtype == function.letter
            )
        python = instance(self.module, name, types)
        texts = [
            converted(value, types[p.dtype])
            for value, p in zip(given, function.parameters, strict=True)
        ]
        result = types.get(function.result, "int32")
        call = f"{python}({', '.join(texts)})"
        back = [v for v, p in zip(given, function.parameters, strict=True) if p.reference]
        if not back:
            return Value(f"{call}[0]", result)
        stores = [
            value.store(f"returned[{k + 1}]")
            for k, value in enumerate(back)
            if value.store is not None
        ]
        if len(stores) != len(back):
            raise Unknown("a reference to what cannot be assigned")
        return Value(f"((returned := {call}), {', '.join(stores)}, returned[0])[-1]", result)


def instance(module: Module, name: str, types: dict[str, str]) -> str:
    """Make the Python function for a function of the preamble with these types; return its name."""
    function = module.functions[name]
    key = (name, types.get(function.letter or "", ""))
    if key in module.made:
        return module.made[key]
    python = module.made[key] = f"f{len(module.made)}_{name}"
    outer = Module(types, module.floating, module.functions, module.made, module.constants)
    names: dict[str, Value] = {}
    for p in function.parameters:
        names[p.name] = _variable(f"a_{p.name}", types[p.dtype])
    reader = Reader(outer, function.body, names)
    references = "".join(f", a_{p.name}" for p in function.parameters if p.reference)
    is_void = function.result == "void"
    reader.result = None if is_void else types[function.result]
    reader.ending = f"return None{references}," if is_void else f"return {{}}{references},"
    while reader.token:
        reader.statement()
    last = f"return None{references},"
    if not is_void:
        last = reader.ending.format(outer.constant(0, types[function.result]))
    head = f"def {python}({', '.join(v.text for v in names.values())}):"
    module.lines += [*outer.lines, head, *reader.lines, f"    {last}"]
    return python


def _variable(python: str, dtype: str) -> Value:
    return Value(python, dtype, lambda new: f"({python} := {new})")


def read_functions(text: Sequence[str]) -> dict[str, Function]:
    """Return the functions of a preamble. A body is read when the function is called."""
    found: dict[str, Function] = {}
    at = 0
    while at < len(text):
        letter = None
        if text[at] == "template":
            if list(text[at + 1 : at + 3]) != ["<", "typename"] or text[at + 4] != ">":
                raise Unknown("a template of something else than one type")
            letter = text[at + 3]
            at += 5
        while text[at] in ("__device__", "inline", "static"):
            at += 1
        result, name = text[at], text[at + 1]
        close = list(text).index(")", at)
        parameters = []
        words: list[str] = []
        for token in [*text[at + 3 : close], ","]:
            if token != ",":
                words.append(token)
                continue
            kept = [word for word in words if word not in ("const", "&")]
            parameters.append(Parameter(kept[1], kept[0], reference="&" in words))
            words = []
        depth, end = 1, close + 2
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found[name] = Function(letter, result, parameters, list(text[close + 2 : end - 1]))
        at = end
    return found


def parameters_of(text: str, bound: Mapping[str, str]) -> list[Parameter]:
    """Return the parameters of a text; ``bound`` gives their dtypes by name."""
    words = [part.split() for part in text.split(",") if part.strip()]
    return [Parameter(w[-1], bound[w[-1]], w[0] == "raw") for w in words]


class Kernel:
    """The common part of both kinds of kernel: types, functions, macros, names of parameters."""

    def __init__(self, texts: Mapping[str, str], bound: Mapping[str, str]) -> None:
        if texts.get("loop_prep") or texts.get("after_loop"):
            raise Unknown("loop_prep and after_loop")
        self.inputs = parameters_of(texts["in_params"], bound)
        self.outputs = parameters_of(texts["out_params"], bound)
        parameters = self.inputs + self.outputs
        wide = any(p.dtype in ("float64", "complex128") for p in parameters)
        types = dict(NAMES)
        both = texts["in_params"] + "," + texts["out_params"]
        for part in both.split(","):
            if part.strip():
                *_, letter, name = part.split()
                types.setdefault(letter, bound[name])
        preamble, self.macros = preprocess(texts.get("preamble", ""))
        self.module = Module(types, "float64" if wide else "float32")
        self.module.functions = read_functions(expand(preamble, self.macros))
        self.names = {p.name: self.named(p) for p in parameters}
        self.names["i"] = Value("i", "int32")
        self.names["n"] = Value("n", "int32")
        self.parts = [p for p in self.outputs if not p.raw]  # written element by element

    def named(self, p: Parameter) -> Value:
        if p.raw:
            return Value(f"p_{p.name}", p.dtype, address="raw")
        return (
            _variable(f"p_{p.name}", p.dtype)
            if p in self.outputs
            else Value(f"p_{p.name}", p.dtype)
        )

    def function(self, python: str, text: str, arguments: Sequence[str], more: Any = ()) -> None:
        """Write the function ``python``, which runs the text's statements and returns outputs."""
        reader = Reader(self.module, expand(text, self.macros), {**self.names, **dict(more)})
        outputs = "".join(f"p_{p.name}, " for p in self.parts)
        reader.ending = f"return ({outputs})"
        while reader.token:
            reader.statement()
        head = f"def {python}({', '.join(arguments)}):"
        self.module.lines += [head, *reader.lines, f"    {reader.ending}"]

    def formula(
        self, python: str, text: str, arguments: Sequence[str], to: str, more: Any = ()
    ) -> None:
        """Write the function ``python``, which returns the text's value, converted to ``to``."""
        reader = Reader(self.module, expand(text, self.macros), {**self.names, **dict(more)})
        value = converted(reader.expression(), to)
        if reader.token:
            raise Unknown(f"{reader.token!r} after an expression")
        self.module.lines += [f"def {python}({', '.join(arguments)}):", f"    return {value}"]

    def compiled(self, python: str) -> Callable[..., Any]:
        from arithmetic import RUNTIME

        space = {**RUNTIME, **self.module.constants}
        exec("\n".join(self.module.lines), space)
        made: Callable[..., Any] = space[python]
        return made


def elementwise(texts: Mapping[str, str], bound: Mapping[str, str]) -> Callable[..., None]:
    """Return the function ``run(loop, arguments)`` of an elementwise kernel."""
    kernel = Kernel(texts, bound)
    parameters = kernel.inputs + kernel.outputs
    kernel.function("element", texts["operation"], ["i", "n", *(f"p_{p.name}" for p in parameters)])
    element = kernel.compiled("element")

    def run(loop: tuple[int, ...], arguments: Arguments) -> None:
        given = [arguments[p.name] for p in parameters]
        wide = [
            np.broadcast_to(a, loop) if isinstance(a, np.ndarray) and not p.raw else a
            for p, a in zip(parameters, given, strict=True)
        ]
        count = np.int32(np.prod(loop, dtype=np.int64))
        for number, at in enumerate(np.ndindex(*loop)):
            values = [
                a if p.raw or not isinstance(a, np.ndarray) else a[at]
                for p, a in zip(parameters, wide, strict=True)
            ]
            for p, value in zip(
                kernel.parts, element(np.int32(number), count, *values), strict=True
            ):
                arguments[p.name][at] = value

    return run


def reduction(texts: Mapping[str, str], bound: Mapping[str, str]) -> Callable[..., None]:
    """Return the function ``run(loop, arguments, axes)`` of a reduction over these axes, which its
    outputs do not have.
    """
    kernel = Kernel(texts, bound)
    types = kernel.module.types
    to = types[texts.get("reduce_type") or kernel.outputs[0].dtype]
    to = "float32" if to == "float16" else to
    arguments_of = ["i", "n", "j", *(f"p_{p.name}" for p in kernel.inputs)]
    kernel.formula("mapped", texts["map_expr"], arguments_of, to, {"_j": Value("j", "int32")})
    pair = {"a": Value("a", to), "b": Value("b", to)}
    kernel.formula("combined", texts["reduce_expr"], ["a", "b"], to, pair)
    kernel.formula("identity", texts["identity"], [], to)
    everything = ["a", *(f"p_{p.name}" for p in kernel.inputs + kernel.outputs)]
    kernel.function("post", texts["post_map_expr"], everything, {"a": Value("a", to)})
    kernel.module.lines.append("parts = (mapped, combined, identity, post)")
    mapped, combined, identity, post = kernel.compiled("parts")  # type: ignore[misc]

    def run(loop: tuple[int, ...], arguments: Arguments, axes: frozenset[int]) -> None:
        given = [arguments[p.name] for p in kernel.inputs]
        wide = [
            np.broadcast_to(a, loop) if isinstance(a, np.ndarray) and not p.raw else a
            for p, a in zip(kernel.inputs, given, strict=True)
        ]
        count = np.int32(np.prod(loop, dtype=np.int64))
        kept = [a for a in range(len(loop)) if a not in axes]
        gone = [a for a in range(len(loop)) if a in axes]
        for row in np.ndindex(*(loop[a] for a in kept)):
            total = identity()
            for j, inner in enumerate(np.ndindex(*(loop[a] for a in gone))):
                at = [0] * len(loop)
                for axis, c in zip(kept + gone, row + inner, strict=True):
                    at[axis] = c
                number = np.ravel_multi_index(at, loop) if loop else 0
                values = [
                    a if p.raw or not isinstance(a, np.ndarray) else a[tuple(at)]
                    for p, a in zip(kernel.inputs, wide, strict=True)
                ]
                one = mapped(np.int32(number), count, np.int32(j), *values)
                total = combined(total, one)
            outputs = [arguments[p.name] for p in kernel.outputs]
            olds = [o if p.raw else o[row] for p, o in zip(kernel.outputs, outputs, strict=True)]
            for p, value in zip(kernel.parts, post(total, *given, *olds), strict=True):
                arguments[p.name][row] = value

    return run
