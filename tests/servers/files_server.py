"""A server of files by path, with 404 for all other paths."""

from __future__ import annotations

from loopback import Answer, Loopback, Request


class FilesServer(Loopback):
    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__()
        self.files = files

    def answer(self, request: Request) -> Answer:
        content = self.files.get(request.path)
        return Answer(b"404: Not Found", 404) if content is None else Answer(content)
