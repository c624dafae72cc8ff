"""Runs the journey once per language, by the samples themselves, and checks what was recorded."""

from __future__ import annotations

import difflib
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import record
from calls import CLIENTS, DOCUMENT, JSON, OPERATIONS, Call
from journey import Journey
from outside import Outside
from runners import RUNNERS, TOOLS, SampleFailed, Samples
from service import Service, make_demo

EVENTS = "text/event-stream"


def check() -> None:
    recorded = record.read()
    if list(recorded) != list(OPERATIONS):
        sys.exit(f"{record.FILE.name} has other operations than the document: record it again")
    faults = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        types = [pool.submit(of, recorded, Path(folder)) for of in (typescript_types, python_types)]
        demo = Path(folder, "demo")
        make_demo(demo)
        runs = [pool.submit(told, runner, demo, Path(folder), recorded) for runner in RUNNERS]
        faults += recorded_faults(recorded)
        for done in [*types, *runs]:
            faults += done.result()
    if faults:
        sys.exit("\n".join(faults))
    count = sum(len(example["samples"]) for example in recorded.values())
    print(f"{count} samples of {len(recorded)} operations run")


def told(runner: type[Samples], demo: Path, folder: Path, recorded: Any) -> list[str]:
    """The faults of one language."""
    work = folder / f"work-{runner.language}"
    record.prepare(work)
    outside = Outside()
    service = Service(demo, folder / runner.language, outside.url)
    samples = runner(service.address, work)
    try:
        journey = Journey(service, outside, work, samples)
        record.tell(journey)
        return drifted(journey, samples, recorded) + answer_faults(journey)
    except SampleFailed as why:
        return [str(why)]
    finally:
        samples.close()
        service.stop()
        outside.close()


def drifted(journey: Journey, samples: Samples, recorded: Any) -> list[str]:
    """Samples that are not the recorded ones."""
    stable = record.learned(journey)
    faults: list[str] = []
    for id, text in samples.texts.items():
        old, new = recorded[id]["samples"].get(samples.language, ""), stable.text(text)
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), f"{id}, recorded", "now", lineterm=""
        )
        faults += lines
    if faults:
        faults.append("The samples have changed: run clients/samples --record")
    return faults


def answer_faults(journey: Journey) -> list[str]:
    """Requests and answers that do not match the document."""
    faults = []
    for id, taken in journey.taken.items():
        faults += request_faults(taken.call)
        faults += invalid(f"the answer to {id}", answer_schema(id), record.answered(taken))
    return faults


def request_faults(call: Call) -> list[str]:
    operation = call.operation.id
    return invalid(f"the request of {operation}", body_schema(operation), record.jsonable(call))


def recorded_faults(recorded: dict[str, Any]) -> list[str]:
    faults = []
    for id, example in recorded.items():
        request, answer = example.get("request"), example.get("response")
        faults += invalid(f"the recorded request of {id}", body_schema(id), request)
        faults += invalid(f"the recorded answer to {id}", answer_schema(id), answer)
        for parameter in described(id).get("parameters", []):
            value = example.get("parameters", {}).get(parameter["name"])
            what = f"{parameter['name']} of {id}"
            faults += invalid(what, parameter["schema"], value)
    return faults


@cache
def described_all() -> dict[str, Any]:
    paths = DOCUMENT["paths"].values()
    return {method["operationId"]: method for path in paths for method in path.values()}


def described(id: str) -> dict[str, Any]:
    found: dict[str, Any] = described_all()[id]
    return found


def body_schema(id: str) -> Any:
    content = described(id).get("requestBody", {}).get("content", {})
    return content.get(JSON, {}).get("schema")


def answer_schema(id: str) -> Any:
    content = described(id)["responses"]["200"]["content"]
    return (content.get(JSON) or content.get(EVENTS) or {}).get("schema")


@cache
def components() -> Any:
    return closed(DOCUMENT["components"])


def closed(schema: Any) -> Any:
    """The same, without properties that are not described."""
    if isinstance(schema, list):
        return [closed(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(inner) for name, inner in schema.items()}
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        found.setdefault("additionalProperties", False)
    return found


def invalid(what: str, schema: Any, value: Any) -> list[str]:
    if value is None:
        return []
    if schema is None:
        return [f"{what}: not in the document"]
    # References point into the document.
    whole = {**closed(schema), "components": components()}
    validator = Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
    error = best_match(validator.iter_errors(value))
    return [f"{what}: {error.json_path}: {error.message[:300]}"] if error else []


def written(recorded: dict[str, Any], folder: Path, language: str, suffix: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for id, example in recorded.items():
        if language in example["samples"]:
            (folder / f"{id}{suffix}").write_text(example["samples"][language], encoding="utf-8")


def typescript_types(recorded: dict[str, Any], _: Path) -> list[str]:
    package = TOOLS / "dermaga"
    written(recorded, package / "samples", "typescript", ".ts")
    project = package / "tsconfig.samples.json"
    options = {"rootDir": ".", "noEmit": True}
    test = {"extends": "./tsconfig.test.json", "compilerOptions": options, "include": ["samples"]}
    project.write_text(json.dumps(test))
    return passed([str(TOOLS / "node_modules" / ".bin" / "tsc"), "--project", str(project)])


def python_types(recorded: dict[str, Any], folder: Path) -> list[str]:
    files = folder / "python-samples"
    written(recorded, files, "python", ".py")
    settings = CLIENTS / "python" / "pyproject.toml"
    cache = Path(sys.prefix) / "mypy"
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings)]
    return passed([*command, "--cache-dir", str(cache), str(files)])


def passed(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True)
    return [done.stdout + done.stderr] if done.returncode else []
