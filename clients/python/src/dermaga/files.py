"""Files to upload, and those that were downloaded."""

from __future__ import annotations

import mimetypes
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from os import PathLike
from pathlib import Path


@dataclass(frozen=True)
class File:
    """A file in memory."""

    name: str
    content: bytes
    content_type: str = "application/octet-stream"

    @classmethod
    def read(cls, path: str | PathLike[str]) -> File:
        """Reads a file. The content type follows from its name."""
        path = Path(path)
        guess, _ = mimetypes.guess_type(path.name)
        return cls(path.name, path.read_bytes(), guess or cls.content_type)

    def write(self, path: str | PathLike[str]) -> None:
        """Writes the content to a file."""
        Path(path).write_bytes(self.content)


def downloaded(headers: Mapping[str, str], content: bytes) -> File:
    """The file of an answer. `headers` has lower-case names."""
    message = Message()
    message["Content-Disposition"] = headers.get("content-disposition", "attachment")
    content_type = headers.get("content-type", File.content_type)
    return File(message.get_filename("file"), content, content_type.split(";")[0])


def multipart(form: Mapping[str, object]) -> tuple[bytes, str]:
    """A form as `multipart/form-data`: its bytes and its content type."""
    boundary = uuid.uuid4().hex
    body = bytearray()
    for name, value in form.items():
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{quoted(name)}"'.encode()
        if isinstance(value, File):
            body += f'; filename="{quoted(value.name)}"\r\nContent-Type: '.encode()
            body += f"{value.content_type}\r\n\r\n".encode() + value.content
        else:
            body += f"\r\n\r\n{value}".encode()
        body += b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    return bytes(body), f"multipart/form-data; boundary={boundary}"


def quoted(name: str) -> str:
    """As browsers write names in forms."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
