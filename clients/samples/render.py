"""Writes a call as a sample in each language."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calls import KEY, Call, Show, Upload, camel, snake

WIDTH = 100
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# The clients have helpers for these, which also keep the session.
HELPERS = {"login": "sign_in", "logout": "sign_out"}
CREDENTIALS = ("email", "password")


class Raw(str):
    """An expression of the language, which is written as it is."""


@dataclass(frozen=True)
class Layout:
    """Literals as the formatter of a language would break them."""

    scalar: Callable[[Any], str]
    indent: int
    # After the last part, if each has a line of its own.
    comma: str
    # Names have no quotation marks, and braces have spaces inside.
    bare: bool = False
    # A list of objects is never on one line.
    tall: bool = False

    def flat(self, value: Any) -> str:
        """On one line."""
        if isinstance(value, dict):
            inner = ", ".join(self.named(name, item) for name, item in value.items())
            return f"{{ {inner} }}" if self.bare and inner else f"{{{inner}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.flat, value))}]"
        return value if isinstance(value, Raw) else self.scalar(value)

    def named(self, name: str, item: Any) -> str:
        if self.bare and isinstance(item, Raw) and item == name:
            return name
        return f"{self.name(name)}: {self.flat(item)}"

    def name(self, name: str) -> str:
        return name if self.bare and IDENTIFIER.fullmatch(name) else json.dumps(name)

    def literal(self, value: Any, indent: int, before: int) -> str:
        """`before` is where the value starts on its line, which ends with a comma."""
        line = self.flat(value)
        fits = before + len(line) + 1 <= WIDTH and not self.breaks(value)
        return line if fits or not isinstance(value, (dict, list)) else self.broken(value, indent)

    def breaks(self, value: Any) -> bool:
        """Whether it never is on one line."""
        if isinstance(value, dict):
            return any(map(self.breaks, value.values()))
        if not isinstance(value, list):
            return False
        objects = [item for item in value if isinstance(item, dict) and len(item) > 1]
        is_tall = self.tall and len(value) > 1 and len(objects) == len(value)
        return is_tall or any(map(self.breaks, value))

    def broken(self, value: Any, indent: int) -> str:
        """One part per line."""
        inner = indent + self.indent
        if isinstance(value, dict):
            heads = [f"{self.name(name)}: " for name in value]
            parts = [
                head + self.literal(item, inner, inner + len(head))
                for head, item in zip(heads, value.values(), strict=True)
            ]
        else:
            parts = [self.literal(item, inner, inner) for item in value]
        start, end = "{}" if isinstance(value, dict) else "[]"
        lines = ",\n".join(" " * inner + part for part in parts)
        return f"{start}\n{lines}{self.comma}\n{' ' * indent}{end}"


def json_scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def python_scalar(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, bool) else json_scalar(value)


JSON = Layout(json_scalar, 2, "", tall=True)
PYTHON = Layout(python_scalar, 4, ",")
TYPESCRIPT = Layout(json_scalar, 2, ",", bare=True, tall=True)


# curl


def curl(call: Call) -> str:
    operation = call.operation
    kind = operation.body_kind if call.body is not None else None
    start = "curl"
    if operation.answer.kind == "events":
        start += " -N"
    implied = {"json": "POST", "form": "POST", "content": "PUT", None: "GET"}[kind]
    if operation.method != implied:
        start += f" -X {operation.method}"
    parts = [f'{start} "$DERMAGA_URL{call.target}"']
    if call.signed_in:
        parts.append('-H "Authorization: Bearer $DERMAGA_TOKEN"')
    if call.key:
        parts.append(f'-H "{KEY}: {call.key}"')
    parts += [f'-H "{name}: ${variable}"' for name, variable in call.headers.items()]
    if kind == "json":
        parts.append('-H "Content-Type: application/json"')
        parts.append(f"-d {quoted(JSON.literal(call.body, 2, 6))}")
    elif kind == "form":
        for name, value in call.body.items():
            if isinstance(value, Upload):
                parts.append(f'-F "{name}=@{value.name};type={value.content_type}"')
            else:
                parts.append(f'-F "{name}={value}"')
    elif kind == "content":
        parts.append(f'-H "Content-Type: {call.body.content_type}"')
        parts.append(f"-T {call.body.name}")
    if operation.answer.kind == "file":
        parts.append(f"-o {call.show.name}")
    line = " ".join(parts)
    return line if len(line) <= 80 and "\n" not in line else " \\\n  ".join(parts)


def quoted(text: str) -> str:
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"


# Python


def python(call: Call) -> str:
    imports = {"Dermaga"}
    client = 'os.environ["DERMAGA_URL"]'
    if call.signed_in:
        imports.add("Session")
        client += ', session=Session(os.environ["DERMAGA_TOKEN"])'
    if uploads(call.body):
        imports.add("File")
    lines = [
        "import os",
        "",
        f"from dermaga import {', '.join(sorted(imports))}",
        "",
        f"client = Dermaga({client})",
        "",
        *python_use(call),
    ]
    return "\n".join(lines) + "\n"


def python_use(call: Call) -> list[str]:
    """The call, and what becomes of the answer."""
    show, kind = call.show, call.operation.answer.kind
    if kind == "file":
        return [python_call("file = ", call), f'file.write("{show.name}")']
    if kind == "events":
        head = python_call(f"for {show.name} in ", call, ":")
        return [head, f"    {python_print(show)}", "    break"]
    if not show.name:
        return [python_call("", call)]
    if kind != "page" and not show.of:
        return [python_call(f"{show.name} = ", call), python_print(show)]
    variable, _, path = (show.of or "page").partition(".")
    items = "page.items" if kind == "page" else python_path(variable, path)
    made = python_call(f"{variable} = ", call)
    return [made, f"for {show.name} in {items}:", f"    {python_print(show)}"]


def python_call(before: str, call: Call, after: str = "") -> str:
    operation = call.operation
    # With the names of those that have one.
    arguments: list[tuple[str, Any]] = [("", value) for value in call.path.values()]
    if operation.id in HELPERS:
        method = HELPERS[operation.id]
        arguments += [("", call.body[name]) for name in CREDENTIALS] if call.body else []
    else:
        # `return` is a keyword.
        name = operation.name + ("_" if keyword.iskeyword(operation.name) else "")
        method = f"{snake(operation.group)}.{name}"
        if call.body is not None:
            read = [Raw(f'File.read("{file.name}")') for file in uploads(call.body)]
            arguments.append(("", with_files(call.body, read)))
        arguments += [(f"{snake(name)}=", value) for name, value in call.query.items()]
    head = f"{before}client.{method}("
    line = ", ".join(name + PYTHON.flat(value) for name, value in arguments)
    if len(f"{head}{line}){after}") <= WIDTH:
        return f"{head}{line}){after}"
    if len(line) + 4 <= WIDTH:
        return f"{head}\n    {line}\n){after}"
    parts = [f"    {name}{PYTHON.literal(value, 4, 4 + len(name))}" for name, value in arguments]
    comma = "," if len(parts) > 1 else ""
    return head + "\n" + ",\n".join(parts) + f"{comma}\n){after}"


def python_path(variable: str, path: str) -> str:
    return variable + "".join(f'["{name}"]' for name in path.split(".") if name)


def python_print(show: Show) -> str:
    values = [python_path(show.name, name) for name in show.fields]
    return f"print({', '.join(values or [show.name])})"


def uploads(body: Any) -> list[Upload]:
    values = body.values() if isinstance(body, dict) else [body]
    return [value for value in values if isinstance(value, Upload)]


def with_files(body: Any, expressions: list[Raw]) -> Any:
    """The body with an expression for each file."""
    rest = iter(expressions)
    if isinstance(body, Upload):
        return next(rest)
    return {
        name: next(rest) if isinstance(value, Upload) else value for name, value in body.items()
    }


# TypeScript


def typescript(call: Call) -> str:
    modules = ["readFile"] if uploads(call.body) else []
    modules += ["writeFile"] if call.operation.answer.kind == "file" else []
    lines = []
    if modules:
        lines += [f'import {{ {", ".join(modules)} }} from "node:fs/promises";', ""]
    lines += ['import { Dermaga } from "dermaga";', ""]
    if call.signed_in:
        lines += [
            "const client = new Dermaga({",
            "  baseUrl: process.env.DERMAGA_URL!,",
            "  session: { accessToken: process.env.DERMAGA_TOKEN! },",
            "});",
            "",
        ]
    else:
        lines += ["const client = new Dermaga({ baseUrl: process.env.DERMAGA_URL! });", ""]
    for file in uploads(call.body):
        content = f'[await readFile("{file.name}")], "{file.name}"'
        lines.append(f'const file = new File({content}, {{ type: "{file.content_type}" }});')
    return "\n".join(lines + typescript_use(call)) + "\n"


def typescript_use(call: Call) -> list[str]:
    """The call, and what becomes of the answer."""
    show, kind = call.show, call.operation.answer.kind
    name = show.name
    if kind == "file":
        written = f'await writeFile("{name}", new Uint8Array(await file.arrayBuffer()));'
        return [typescript_call("const file = await ", call), written]
    if kind == "events":
        head = typescript_call(f"for await (const {name} of ", call, ") {")
        return [head, f"  {typescript_print(show)}", "  break;", "}"]
    if not name:
        return [typescript_call("await ", call)]
    if kind != "page" and not show.of:
        return [typescript_call(f"const {name} = await ", call), typescript_print(show)]
    items = show.of or "page.items"
    made = typescript_call(f"const {items.partition('.')[0]} = await ", call)
    return [made, f"for (const {name} of {items}) {{", f"  {typescript_print(show)}", "}"]


def typescript_call(before: str, call: Call, after: str = ";") -> str:
    operation = call.operation
    arguments: list[Any] = list(call.path.values())
    if operation.id in HELPERS:
        method = camel(HELPERS[operation.id])
        arguments += [{name: call.body[name] for name in CREDENTIALS}] if call.body else []
    else:
        method = f"{camel(operation.group)}.{camel(operation.name)}"
        if call.body is not None:
            arguments.append(with_files(call.body, [Raw("file") for _ in uploads(call.body)]))
        if call.query:
            arguments.append(dict(call.query))
    *first, last = [TYPESCRIPT.flat(argument) for argument in arguments] or [""]
    head = f"{before}client.{method}(" + "".join(f"{argument}, " for argument in first)
    breaks = any(map(TYPESCRIPT.breaks, arguments))
    if len(f"{head}{last}){after}") <= WIDTH and not breaks:
        return f"{head}{last}){after}"
    if isinstance(arguments[-1], (dict, list)) and len(head) < WIDTH:
        return f"{head}{TYPESCRIPT.broken(arguments[-1], 0)}){after}"
    parts = "".join(f"  {TYPESCRIPT.literal(argument, 2, 2)},\n" for argument in arguments)
    return f"{before}client.{method}(\n{parts}){after}"


def typescript_print(show: Show) -> str:
    values = [f"{show.name}.{name}" for name in show.fields]
    return f"console.log({', '.join(values or [show.name])});"


LANGUAGES: dict[str, Callable[[Call], str]] = {
    "curl": curl,
    "typescript": typescript,
    "python": python,
}
