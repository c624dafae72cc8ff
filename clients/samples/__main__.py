"""Examples and code samples of every operation, from calls of a service with the demo's data.

    python3 clients/samples --record   writes docs/operations/examples.json
    python3 clients/samples --check    runs every sample in its language

Recording needs Python 3.10 and nothing else. Checking needs the clients and the tools that
.ci/clients installs. SERVICE_BINARY names the service; the default is target/debug/dermaga.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import record
from journey import Journey
from outside import Outside
from service import Service, make_demo


def record_examples() -> None:
    with tempfile.TemporaryDirectory() as folder:
        demo, work = Path(folder, "demo"), Path(folder, "work")
        make_demo(demo)
        record.prepare(work)
        outside = Outside()
        service = Service(demo, Path(folder, "service"), outside.url)
        try:
            journey = Journey(service, outside, work)
            record.tell(journey)
            record.write(record.examples(journey))
        finally:
            service.stop()
            outside.close()
    print(f"{len(journey.taken)} operations in {record.FILE.name}")


def main() -> None:
    match sys.argv[1:]:
        case ["--record"]:
            record_examples()
        case ["--check"]:
            from check import check

            check()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
