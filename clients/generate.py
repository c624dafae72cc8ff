#!/usr/bin/env python3
"""Generates the operations and types of both clients from docs/openapi.json.

    clients/generate.py           writes the files
    clients/generate.py --check   fails if they differ from what would be written

Everything else in the clients is written by hand: requests, retries, errors, pages. Needs Python
3.10 and nothing else.
"""

from __future__ import annotations

import difflib
import json
import keyword
import re
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
DOCUMENT = ROOT.parent / "docs" / "openapi.json"
WIDTH = 100

# What the document does not state. Every name is checked against it, so that no entry outlives its
# operation.

# Where the general rule for names (`Operation.name`) misleads.
METHOD_NAMES = {
    # The GET is kept for old clients. New ones use POST.
    "publish_route": "publish_by_get",
    "publish_route_by_post": "publish",
    # A GET, and no change.
    "edit_partner": "get_for_editing",
}
TYPE_NAMES = {
    # Both languages have an `Error` or use the word for exceptions.
    "Error": "ErrorBody",
    # The numbers come from equal names in different parts of the service.
    "Period2": "SettlementPeriod",
    "Scope2": "ResellerKeyScope",
}
# The parameter that selects the format of an answer. Files have methods of their own.
FORMAT = "format"
PAGE, PAGE_SIZE = "page", "page_size"
IDEMPOTENCY_KEY = "Idempotency-Key"
# Headers that the clients send by themselves, whether they are documented or not.
SENT_HEADERS = {IDEMPOTENCY_KEY, "Last-Event-ID", "X-Remember-Token"}
# How a parameter is described in a docstring.
PARAMETER = ":param "
JSON = "application/json"


# Types, without a language.


@dataclass(frozen=True)
class Simple:
    """`string`, `integer`, `number`, `boolean`, `null`, `any`, `file` or `nothing`."""

    kind: str


@dataclass(frozen=True)
class Named:
    name: str


@dataclass(frozen=True)
class Literals:
    values: tuple[str, ...]


@dataclass(frozen=True)
class ListOf:
    item: Type


@dataclass(frozen=True)
class MapOf:
    value: Type


@dataclass(frozen=True)
class Union:
    members: tuple[Type, ...]


Type = Simple | Named | Literals | ListOf | MapOf | Union

NULL, ANY, NOTHING, FILE = Simple("null"), Simple("any"), Simple("nothing"), Simple("file")


@dataclass
class Field:
    name: str
    type: Type
    required: bool
    description: str


@dataclass
class Struct:
    name: str
    fields: list[Field]
    description: str = ""


@dataclass
class Alias:
    name: str
    type: Type
    description: str = ""


Declaration = Struct | Alias


def words(text: str) -> list[str]:
    return [word for word in re.split(r"[^A-Za-z0-9]+", text) if word]


def pascal(text: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in words(text))


def class_name(group: Group) -> str:
    return pascal(group.name) + "Api"


def camel(text: str) -> str:
    name = pascal(text)
    return name[0].lower() + name[1:]


def snake(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", "_".join(words(text))).lower()


def plain(text: str | None) -> str:
    """A description as one line per paragraph."""
    paragraphs = re.split(r"\n\s*\n", text or "")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).strip()


def union(members: list[Type]) -> Type:
    """Without duplicates, null last."""
    flat: list[Type] = []
    for member in members:
        flat.extend(member.members if isinstance(member, Union) else [member])
    unique = list(dict.fromkeys(flat))
    unique.sort(key=lambda member: member == NULL)
    return unique[0] if len(unique) == 1 else Union(tuple(unique))


class Schemas:
    """Translates the schemas of the document into declarations."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self.schemas = schemas
        self.declarations: dict[str, Declaration] = {}
        for name in sorted(schemas, key=type_name):
            self.declare(type_name(name), schemas[name])

    def declare(self, name: str, schema: dict[str, Any]) -> Named:
        if name in self.declarations:
            sys.exit(f"two types are called {name}")
        description = plain(schema.get("description"))
        if schema.get("type") == "object" and "properties" in schema:
            self.declarations[name] = Struct(name, [], description)
            self.declarations[name] = Struct(name, self.fields(schema, name), description)
        else:
            self.declarations[name] = Alias(name, self.type(schema, name), description)
        return Named(name)

    def fields(self, schema: dict[str, Any], owner: str) -> list[Field]:
        required = schema.get("required", [])
        return [
            Field(
                name,
                self.type(value, owner + pascal(name)),
                name in required,
                plain(value.get("description") if isinstance(value, dict) else None),
            )
            for name, value in schema["properties"].items()
        ]

    def type(self, schema: Any, context: str) -> Type:
        """The type of a schema; an object inside it is declared with a name from its context."""
        if schema is True or not isinstance(schema, dict):
            return ANY
        if "$ref" in schema:
            return Named(type_name(schema["$ref"].rsplit("/", 1)[1]))
        if "enum" in schema:
            return Literals(tuple(schema["enum"]))
        if "const" in schema:
            return Literals((schema["const"],))
        choices = schema.get("anyOf") or schema.get("oneOf")
        if choices:
            return union([self.choice(choice, context) for choice in choices])
        kinds = schema.get("type")
        if kinds is None:
            # A reference with a description of its own is an `allOf` with one member.
            wrapped = [part for part in schema.get("allOf", []) if "$ref" in part]
            return self.type(wrapped[0], context) if wrapped else ANY
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return union([self.of_kind(kind, schema, context) for kind in kinds])

    def choice(self, schema: dict[str, Any], context: str) -> Type:
        if schema.get("type") == "object" and "properties" in schema:
            return self.declare(context + pascal(schema["required"][0]), schema)
        return self.type(schema, context)

    def of_kind(self, kind: str, schema: dict[str, Any], context: str) -> Type:
        if kind == "array":
            return ListOf(self.type(schema.get("items", True), context))
        if kind == "object" and "properties" in schema:
            return self.declare(context, schema)
        if kind == "object":
            return MapOf(self.type(schema.get("additionalProperties", True), context))
        if kind == "string" and schema.get("format") == "binary":
            return FILE
        return Simple(kind)

    def struct(self, type: Type) -> Struct:
        declaration = self.declarations[type.name] if isinstance(type, Named) else None
        if not isinstance(declaration, Struct):
            sys.exit(f"not an object: {type}")
        return declaration


def type_name(name: str) -> str:
    return TYPE_NAMES.get(name, name)


# Operations.


@dataclass
class Answer:
    """`data`, `page`, `file` or `events`, with the type of its data or items."""

    kind: str
    type: Type = NOTHING
    # For a page: the property of `data` that has the items, if it is not `data` itself.
    items: str | None = None
    # For a page with more than items: the type of the whole answer.
    body: Type | None = None


@dataclass
class Operation:
    id: str
    group: str
    name: str
    method: str
    path: str
    summary: str
    description: str
    path_parameters: list[str]
    query: list[Field]
    # `json`, `form` or `content`.
    body_kind: str | None
    body: Type
    body_required: bool
    # `read`, `keyed` or `change`: when a request may be sent again.
    repeat: str
    answer: Answer
    # Where the page number is sent: `query` or `json`.
    paged_in: str | None = None
    # The formats besides JSON, of an operation that has several.
    files: list[str] = field(default_factory=list)


@dataclass
class Group:
    name: str
    description: str
    operations: list[Operation]


class Api:
    def __init__(self, document: dict[str, Any]) -> None:
        self.schemas = Schemas(document["components"]["schemas"])
        self.groups = [
            Group(tag["name"], plain(tag["description"]), []) for tag in document["tags"]
        ]
        by_name = {group.name: group for group in self.groups}
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                found = self.operation(method.upper(), path, operation)
                by_name[found.group].operations.append(found)
        # A tag may have webhooks only.
        self.groups = [group for group in self.groups if group.operations]
        self.check_tables(document)

    def check_tables(self, document: dict[str, Any]) -> None:
        ids = {operation.id for group in self.groups for operation in group.operations}
        unknown = METHOD_NAMES.keys() - ids
        unknown |= TYPE_NAMES.keys() - document["components"]["schemas"].keys()
        if unknown:
            sys.exit(f"not in the document: {', '.join(sorted(unknown))}")
        for group in self.groups:
            names = [operation.name for operation in group.operations]
            names += [f"{operation.name}_file" for operation in group.operations if operation.files]
            for name in {name for name in names if names.count(name) > 1}:
                sys.exit(f"two operations of {group.name} are called {name}")

    def operation(self, method: str, path: str, operation: dict[str, Any]) -> Operation:
        id = operation["operationId"]
        parameters = operation.get("parameters", [])
        headers = [parameter["name"] for parameter in parameters if parameter["in"] == "header"]
        if set(headers) - SENT_HEADERS:
            sys.exit(f"{id} has a header that the clients do not send: {headers}")
        placed = {parameter["name"] for parameter in parameters if parameter["in"] == "path"}
        in_path = re.findall(r"{(\w+)}", path)
        if set(in_path) != placed:
            sys.exit(f"{id} does not describe the parameters of {path}")
        query = [
            Field(
                parameter["name"],
                self.schemas.type(parameter["schema"], pascal(id) + pascal(parameter["name"])),
                parameter.get("required", False),
                plain(parameter.get("description")),
            )
            for parameter in parameters
            if parameter["in"] == "query"
        ]
        body_kind, body, body_required = self.body(id, operation.get("requestBody"))
        answer, files = self.answer(id, operation["responses"]["200"]["content"], query)
        return Operation(
            id=id,
            group=operation["tags"][0],
            name=METHOD_NAMES.get(id) or short_name(id, operation["tags"][0]),
            method=method,
            path=path,
            summary=operation["summary"],
            description=plain(operation["description"]),
            path_parameters=in_path,
            query=[parameter for parameter in query if parameter.name != FORMAT],
            body_kind=body_kind,
            body=body,
            body_required=body_required,
            repeat=repeat(operation["x-changes"], keyed=IDEMPOTENCY_KEY in headers),
            answer=answer,
            paged_in=self.paged_in(id, query, body) if answer.kind == "page" else None,
            files=files,
        )

    def body(self, id: str, request: dict[str, Any] | None) -> tuple[str | None, Type, bool]:
        if request is None:
            return None, NOTHING, False
        [(media_type, content)] = request["content"].items()
        kinds = {
            JSON: "json",
            "multipart/form-data": "form",
            "application/octet-stream": "content",
        }
        body = self.schemas.type(content["schema"], pascal(id) + "Form")
        return kinds[media_type], body, request.get("required", False)

    def answer(
        self, id: str, content: dict[str, Any], query: list[Field]
    ) -> tuple[Answer, list[str]]:
        if "text/event-stream" in content:
            event = self.schemas.type(content["text/event-stream"]["schema"], pascal(id))
            return Answer("events", event), []
        if JSON not in content:
            return Answer("file"), []
        files = [
            value
            for parameter in query
            if parameter.name == FORMAT
            for value in self.literals(parameter.type)
            if value != "json"
        ]
        if len(files) != len(content) - 1:
            sys.exit(f"{id} has other formats than its parameter `{FORMAT}`")
        return self.envelope(id, content[JSON]["schema"]), files

    def literals(self, type: Type) -> tuple[str, ...]:
        if isinstance(type, Union):
            return tuple(value for member in type.members for value in self.literals(member))
        if isinstance(type, Literals):
            return type.values
        if isinstance(type, Named):
            declaration = self.schemas.declarations[type.name]
            return self.literals(declaration.type) if isinstance(declaration, Alias) else ()
        return ()

    def envelope(self, id: str, envelope: dict[str, Any]) -> Answer:
        properties = envelope["properties"]
        if "pagination" not in properties:
            data = self.schemas.type(properties["data"], pascal(id))
            # The schema allows null because all envelopes have one type. An operation that has data
            # always answers with it.
            members = data.members if isinstance(data, Union) else (data,)
            present = [member for member in members if member != NULL]
            return Answer("data", union(present) if present else NOTHING)
        usual = {"status", "code", "message", "data", "pagination"}
        data = self.schemas.type(properties["data"], pascal(id))
        items = None
        if not isinstance(data, ListOf):
            lists = [f for f in self.schemas.struct(data).fields if isinstance(f.type, ListOf)]
            if len(lists) != 1:
                sys.exit(f"the items of {id} are not obvious")
            items, data = lists[0].name, lists[0].type
        if items is None and not properties.keys() - usual:
            return Answer("page", data.item)
        body = self.schemas.declare(pascal(id) + "Body", envelope)
        return Answer("page", data.item, items, body)

    def paged_in(self, id: str, query: list[Field], body: Type) -> str:
        if any(parameter.name == PAGE for parameter in query):
            return "query"
        if any(property.name == PAGE for property in self.schemas.struct(body).fields):
            return "json"
        sys.exit(f"{id} answers with a page and has no parameter for its number")


def short_name(id: str, tag: str) -> str:
    """The operation without the name of its group: `list_bookings` of Bookings is `list`."""
    group = snake(tag)
    singular = re.sub(r"(?<=x)es$|s$", "", group)
    return re.sub(rf"(^|_)({group}|{singular})(?=_|$)", "", id).strip("_")


def repeat(changes: bool, keyed: bool) -> str:
    if keyed:
        return "keyed"
    return "change" if changes else "read"


# Printing.


def paragraphs(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        is_parameter = paragraph.startswith(PARAMETER)
        # Parameters are a list.
        if lines and not (is_parameter and before.startswith(PARAMETER)):
            lines.append("")
        lines += textwrap.wrap(
            paragraph,
            width,
            subsequent_indent="    " if is_parameter else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        before = paragraph
    return lines


def documented(operation: Operation, name: str) -> str:
    """The text of an operation's comment."""
    place = f"`{operation.method} {operation.path}`, operation `{operation.id}`."
    if name != operation.name:
        return f"{operation.summary}, as a file. Pages do not apply.\n\n{place}"
    return f"{operation.summary}.\n\n{operation.description}\n\n{place}"


def fitted(before: str, parts: list[str], after: str, indent: int, step: int) -> str:
    """The parts on one line if it fits, or else one per line."""
    line = f"{' ' * indent}{before}{', '.join(parts)}{after}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return broken(before, parts, after, indent, step)


def broken(before: str, parts: list[str], after: str, indent: int, step: int) -> str:
    inner = "".join(f"{' ' * (indent + step)}{part},\n" for part in parts)
    return f"{' ' * indent}{before}\n{inner}{' ' * indent}{after}"


NOTICE = "Generated from docs/openapi.json by clients/generate.py. Do not edit."


class TypeScript:
    SIMPLE = {
        "string": "string",
        "integer": "number",
        "number": "number",
        "boolean": "boolean",
        "null": "null",
        "any": "unknown",
        "nothing": "void",
        "file": "Blob",
    }

    def __init__(self, api: Api) -> None:
        self.api = api

    def files(self) -> dict[Path, str]:
        folder = ROOT / "typescript" / "src" / "generated"
        return {folder / "types.ts": self.types(), folder / "operations.ts": self.operations()}

    def type(self, type: Type) -> str:
        match type:
            case Simple(kind):
                return self.SIMPLE[kind]
            case Named(name):
                return name
            case Literals(values):
                return " | ".join(json.dumps(value) for value in values)
            case ListOf(item):
                inner = self.type(item)
                return f"({inner})[]" if " | " in inner else f"{inner}[]"
            case MapOf(value):
                return f"Record<string, {self.type(value)}>"
            case Union(members):
                return " | ".join(dict.fromkeys(self.type(member) for member in members))

    def comment(self, text: str, indent: str) -> str:
        if not text:
            return ""
        text = text.replace("*/", "*\\/")
        line = f"{indent}/** {text} */\n"
        if "\n" not in text and len(line) <= WIDTH + 1:
            return line
        lines = paragraphs(text, WIDTH - len(indent) - 3)
        body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
        return f"{indent}/**\n{body}{indent} */\n"

    def types(self) -> str:
        declarations = self.api.schemas.declarations
        parts = [f"// {NOTICE}\n"]
        parts += [self.declaration(declarations[name]) for name in sorted(declarations)]
        for group in self.api.groups:
            for operation in group.operations:
                if operation.query:
                    text = f"Parameters of `{self.method_of(operation)}`."
                    parts.append(
                        self.declaration(Struct(self.query(operation), operation.query, text))
                    )
        return "\n".join(parts)

    def method_of(self, operation: Operation) -> str:
        return f"{camel(operation.group)}.{camel(operation.name)}"

    def query(self, operation: Operation) -> str:
        return pascal(operation.id) + "Query"

    def declaration(self, declaration: Declaration) -> str:
        head = self.comment(declaration.description, "")
        if isinstance(declaration, Alias):
            line = f"export type {declaration.name} = {self.type(declaration.type)};\n"
            if len(line) > WIDTH + 1:
                members = self.type(declaration.type).split(" | ")
                rest = "".join(f"\n  | {member}" for member in members)
                line = f"export type {declaration.name} ={rest};\n"
            return head + line
        fields = "".join(
            self.comment(field.description, "  ")
            + f"  {field.name}{'' if field.required else '?'}: {self.type(field.type)};\n"
            for field in declaration.fields
        )
        return f"{head}export interface {declaration.name} {{\n{fields}}}\n"

    def operations(self) -> str:
        groups = "\n".join(self.group(group) for group in self.api.groups)
        used = set(re.findall(r"\b[A-Z]\w+", re.sub(r"/\*\*.*?\*/", "", groups, flags=re.S)))
        named = self.api.schemas.declarations.keys() | {
            self.query(operation) for group in self.api.groups for operation in group.operations
        }
        imports = "".join(f"  {name},\n" for name in sorted(used & named))
        members = "".join(
            self.comment(group.description, "  ")
            + f"  readonly {camel(group.name)}: {class_name(group)};\n"
            for group in self.api.groups
        )
        made = "".join(
            f"    this.{camel(group.name)} = new {class_name(group)}(transport);\n"
            for group in self.api.groups
        )
        return (
            f"// {NOTICE}\n\n"
            'import type { Listing } from "../page.js";\n'
            "import { segment, type KeyedOptions, type Options, type Transport } "
            'from "../transport.js";\n'
            f'import type {{\n{imports}}} from "./types.js";\n\n'
            f"{groups}\n"
            "/** The operations of the API, one member per group. */\n"
            f"export class Operations {{\n{members}\n"
            f"  constructor(transport: Transport) {{\n{made}  }}\n}}\n"
        )

    def group(self, group: Group) -> str:
        methods = "\n".join(
            method for operation in group.operations for method in self.methods(operation)
        )
        return (
            self.comment(group.description, "")
            + f"export class {class_name(group)} {{\n"
            + "  constructor(private readonly transport: Transport) {}\n\n"
            + methods
            + "}\n"
        )

    def methods(self, operation: Operation) -> list[str]:
        methods = [self.method(operation, operation.name)]
        if operation.files:
            methods.append(self.method(operation, f"{operation.name}_file"))
        return methods

    def method(self, operation: Operation, name: str) -> str:
        as_file = name != operation.name
        answer = Answer("file") if as_file else operation.answer
        parameters = [f"{camel(parameter)}: string" for parameter in operation.path_parameters]
        if as_file:
            parameters.append(f"format: {self.type(Literals(tuple(operation.files)))}")
        if operation.body_kind:
            optional = "" if operation.body_required else "?"
            parameters.append(f"body{optional}: {self.type(operation.body)}")
        if operation.query:
            query = self.query(operation)
            if as_file and operation.paged_in == "query":
                query = f'Omit<{query}, "{PAGE}" | "{PAGE_SIZE}">'
            required = any(parameter.required for parameter in operation.query)
            parameters.append(f"query: {query}{'' if required else ' = {}'}")
        keyed = operation.repeat == "keyed"
        parameters.append(f"options?: {'KeyedOptions' if keyed else 'Options'}")

        path = re.sub(r"{(\w+)}", lambda found: f"${{segment({camel(found[1])})}}", operation.path)
        path = f"`{path}`" if operation.path_parameters else f'"{path}"'
        call = [f'method: "{operation.method}"', f"path: {path}", f'repeat: "{operation.repeat}"']
        if operation.query:
            call.append("query: { ...query, format }" if as_file else "query")
        elif as_file:
            call.append("query: { format }")
        if operation.body_kind:
            call.append(f"{operation.body_kind}: body")
        written = f"{{ {', '.join(call)} }}"
        if len(written) > WIDTH - 7:
            written = broken("{", call, "}", 6, 2).lstrip()

        item = self.type(answer.type)
        if answer.kind == "data":
            result, sender = f"Promise<{item}>", "data"
            arguments = [written, "options"]
        elif answer.kind == "page":
            result = f"Listing<{item}{', ' + self.type(answer.body) if answer.body else ''}>"
            sender = "list"
            where = [f'pageIn: "{operation.paged_in}"']
            if answer.items:
                where.append(f'items: "{answer.items}"')
            arguments = [written, f"{{ {', '.join(where)} }}", "options"]
        elif answer.kind == "file":
            result, sender = "Promise<File>", "file"
            arguments = [written, "options"]
        else:
            result, sender = f"AsyncGenerator<{item}>", "events"
            arguments = [written, "options"]
        head = fitted(f"{camel(name)}(", parameters, f"): {result} {{", 2, 2)
        body = fitted(f"return this.transport.{sender}(", arguments, ");", 4, 2)
        return self.comment(documented(operation, name), "  ") + f"{head}\n{body}\n  }}\n"


class Python:
    SIMPLE = {
        "string": "str",
        "integer": "int",
        "number": "float",
        "boolean": "bool",
        "null": "None",
        "any": "Any",
        "nothing": "None",
        "file": "File",
    }

    def __init__(self, api: Api) -> None:
        self.api = api

    def files(self) -> dict[Path, str]:
        folder = ROOT / "python" / "src" / "dermaga"
        return {folder / "types.py": self.types(), folder / "operations.py": self.operations()}

    def type(self, type: Type) -> str:
        match type:
            case Simple(kind):
                return self.SIMPLE[kind]
            case Named(name):
                return name
            case Literals(values):
                return f"Literal[{', '.join(json.dumps(value) for value in values)}]"
            case ListOf(item):
                return f"list[{self.type(item)}]"
            case MapOf(value):
                return f"dict[str, {self.type(value)}]"
            case Union(members):
                return " | ".join(dict.fromkeys(self.type(member) for member in members))

    def docstring(self, text: str, indent: str) -> str:
        if not text:
            return ""
        text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        # A quotation mark at the end would join those that close the docstring.
        closing = '."""' if text.endswith('"') else '"""'
        line = f'{indent}"""{text}{closing}\n'
        if "\n" not in text and len(line) <= WIDTH + 1:
            return line
        lines = paragraphs(text, WIDTH - len(indent) - 3)
        body = "".join(f"{indent}{line}".rstrip() + "\n" for line in lines[1:])
        return f'{indent}"""{lines[0]}\n{body}{indent}"""\n'

    def types(self) -> str:
        declarations = self.api.schemas.declarations
        parts = [self.declaration(declarations[name]) for name in sorted(declarations)]
        return (
            f'"""The types of requests and answers.\n\n{NOTICE}\n"""\n\n'
            "from __future__ import annotations\n\n"
            "from typing import TYPE_CHECKING, Any, Literal, TypedDict\n\n"
            "if TYPE_CHECKING:\n"
            "    # Only type checkers need it, and they bring it.\n"
            "    from typing_extensions import NotRequired, TypeAlias\n\n"
            "    from .files import File\n\n\n" + "\n\n".join(parts)
        )

    def declaration(self, declaration: Declaration) -> str:
        if isinstance(declaration, Alias):
            return self.alias(declaration)
        if any(keyword.iskeyword(field.name) for field in declaration.fields):
            return self.functional(declaration)
        fields = "".join(
            f"    {field.name}: {self.field(field)}\n" + self.docstring(field.description, "    ")
            for field in declaration.fields
        )
        text = self.docstring(declaration.description, "    ")
        return f"class {declaration.name}(TypedDict):\n{text}{chr(10) if text else ''}{fields}"

    def field(self, field: Field) -> str:
        inner = self.type(field.type)
        return inner if field.required else f"NotRequired[{inner}]"

    def alias(self, alias: Alias) -> str:
        value = self.type(alias.type)
        if isinstance(alias.type, Union):
            value = f'"{value}"'
        line = f"{alias.name}: TypeAlias = {value}\n"
        if len(line) > WIDTH + 1 and isinstance(alias.type, Literals):
            inner = "".join(f"    {json.dumps(value)},\n" for value in alias.type.values)
            line = f"{alias.name}: TypeAlias = Literal[\n{inner}]\n"
        return line + self.docstring(alias.description, "")

    def functional(self, struct: Struct) -> str:
        """For fields whose names are keywords."""
        fields = ""
        for field in struct.fields:
            for line in paragraphs(field.description, WIDTH - 10):
                fields += f"        # {line}\n"
            fields += f'        "{field.name}": "{self.field(field)}",\n'
        head = f'{struct.name} = TypedDict(\n    "{struct.name}",\n    {{\n{fields}    }},\n)\n'
        return head + self.docstring(struct.description, "")

    def operations(self) -> str:
        groups = "\n\n".join(self.group(group) for group in self.api.groups)
        code = re.sub(r'""".*?"""', "", groups, flags=re.S)
        used = set(re.findall(r"\b[A-Z]\w+", code)) & self.api.schemas.declarations.keys()
        imports = "".join(f"    {name},\n" for name in sorted(used))
        members = "".join(
            f"        self.{snake(group.name)} = {class_name(group)}(transport)\n"
            + self.docstring(group.description, "        ")
            for group in self.api.groups
        )
        return (
            f'"""The operations of the API, one class per group.\n\n{NOTICE}\n"""\n\n'
            "from __future__ import annotations\n\n"
            "import builtins\n"
            "from collections.abc import Iterator\n"
            "from typing import Literal, cast\n\n"
            "from .files import File\n"
            "from .page import Page, PageWith\n"
            "from .transport import Call, Group, Transport, segment\n"
            f"from .types import (\n{imports})\n\n\n"
            f"{groups}\n\n"
            "class Operations:\n"
            '    """The operations of the API, one member per group."""\n\n'
            "    def __init__(self, transport: Transport) -> None:\n"
            f"{members}"
        )

    def group(self, group: Group) -> str:
        methods = "\n".join(
            method for operation in group.operations for method in self.methods(operation)
        )
        text = self.docstring(group.description, "    ")
        return f"class {class_name(group)}(Group):\n{text}\n{methods}"

    def methods(self, operation: Operation) -> list[str]:
        methods = [self.method(operation, operation.name)]
        if operation.files:
            methods.append(self.method(operation, f"{operation.name}_file"))
        return methods

    def method(self, operation: Operation, name: str) -> str:
        as_file = name != operation.name
        answer = Answer("file") if as_file else operation.answer
        parameters = ["self"]
        parameters += [f"{snake(parameter)}: str" for parameter in operation.path_parameters]
        if as_file:
            parameters.append(f"format: {self.type(Literals(tuple(operation.files)))}")
        if operation.body_kind:
            body = self.type(operation.body)
            parameters.append(f"body: {body}{'' if operation.body_required else ' | None = None'}")
        parameters.append("*")
        query = [
            parameter
            for parameter in operation.query
            if not (as_file and parameter.name in (PAGE, PAGE_SIZE))
        ]
        for parameter in sorted(query, key=lambda parameter: not parameter.required):
            name_and_type = f"{snake(parameter.name)}: "
            if parameter.required:
                name_and_type += self.type(parameter.type)
            else:
                name_and_type += self.type(union([parameter.type, NULL])) + " = None"
            parameters.append(name_and_type)
        keyed = operation.repeat == "keyed"
        if keyed:
            parameters.append("idempotency_key: str | None = None")
        parameters.append("timeout: float | None = None")

        path = re.sub(r"{(\w+)}", lambda found: f"{{segment({snake(found[1])})}}", operation.path)
        path = f'f"{path}"' if operation.path_parameters else f'"{path}"'
        call = [f'"{operation.method}"', path, f'repeat="{operation.repeat}"']
        sent = [f'"{parameter.name}": {snake(parameter.name)}' for parameter in query]
        if as_file:
            sent.append('"format": format')
        if sent:
            call.append(fitted("query={", sent, "}", 12, 4).lstrip())
        if operation.body_kind:
            call.append(f"{operation.body_kind}=body")
        if keyed:
            call.append("idempotency_key=idempotency_key")
        call.append("timeout=timeout")

        item = self.annotation(answer.type)
        if answer.kind == "data":
            result, sender, more = item, "data", []
        elif answer.kind == "page":
            generic = "PageWith" if answer.body else "Page"
            result = f"{generic}[{item}{', ' + self.type(answer.body) if answer.body else ''}]"
            sender = "page"
            more = [f'page_in="{operation.paged_in}"']
            if answer.items:
                more.append(f'items="{answer.items}"')
        elif answer.kind == "file":
            result, sender, more = "File", "file", []
        else:
            result, sender, more = f"Iterator[{item}]", "events", []
        head = fitted(f"def {self.identifier(name)}(", parameters, f") -> {result}:", 4, 4)
        written = fitted("call = Call(", call, ")", 8, 4) + "\n"
        sending = f"self._transport.{sender}({', '.join(['call', *more])})"
        if result == "None":
            sent_line = f"        {sending}\n"
        elif answer.kind == "file":
            sent_line = f"        return {sending}\n"
        else:
            sent_line = fitted("return cast(", [result, sending], ")", 8, 4) + "\n"
        text = documented(operation, name)
        described = [parameter for parameter in query if parameter.description]
        if described:
            text += "".join(
                f"\n\n{PARAMETER}{snake(parameter.name)}: {parameter.description}"
                for parameter in described
            )
        return f"{head}\n{self.docstring(text, '        ')}{written}{sent_line}"

    def annotation(self, type: Type) -> str:
        """Several groups have a method `list`, which hides the builtin in the class."""
        return re.sub(r"\blist\[", "builtins.list[", self.type(type))

    def identifier(self, name: str) -> str:
        return f"{name}_" if keyword.iskeyword(name) else name


def main() -> None:
    api = Api(json.loads(DOCUMENT.read_text(encoding="utf-8")))
    files = TypeScript(api).files() | Python(api).files()
    if sys.argv[1:] == ["--check"]:
        different = False
        for path, text in files.items():
            found = path.read_text(encoding="utf-8") if path.exists() else ""
            name = str(path.relative_to(ROOT.parent))
            changes = difflib.unified_diff(
                found.splitlines(True), text.splitlines(True), name, "generated"
            )
            for line in changes:
                different = True
                sys.stdout.write(line)
        if different:
            sys.exit("The clients differ from docs/openapi.json: run clients/generate.py")
        return
    if sys.argv[1:]:
        sys.exit(__doc__)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    count = sum(len(group.operations) for group in api.groups)
    print(f"{count} operations, {len(api.schemas.declarations)} types")


if __name__ == "__main__":
    main()
