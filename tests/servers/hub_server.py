"""A server of datasets like the Hugging Face Hub: lists, redirects and ranges."""

from __future__ import annotations

import hashlib
import json

from loopback import Answer, Loopback, Request

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DATASET = "kiyer/pathfinder_arxiv_data"


class HubServer(Loopback):
    """Server of `files` (content by path); downloads are redirected to /cdn/ as on the Hub."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__()
        self.files = files
        self.ranges = True
        self.sizes: dict[str, int] = {}  # lies about sizes, by remote path
        self.spoiled: dict[str, int] = {}  # how often a file still comes with a wrong byte

    def downloads(self) -> list[Request]:
        """Return the requests for file contents, without file list and redirects."""
        return [request for request in self.requests if request.path.startswith("/cdn/")]

    def answer(self, request: Request) -> Answer:
        if request.path == f"/api/datasets/{DATASET}/revision/main":
            return self._list()
        prefix = f"/datasets/{DATASET}/resolve/{COMMIT}/"
        if request.path.startswith(prefix):
            return Answer(status=302, headers={"Location": "/cdn/" + request.path[len(prefix) :]})
        if request.path.startswith("/cdn/") and request.path[5:] in self.files:
            return self._content(request.path[5:], request.headers.get("range"))
        return Answer(b'{"error":"Repository not found"}', 404)

    def _list(self) -> Answer:
        siblings: list[dict[str, object]] = [{"rfilename": "README.md", "size": 10}]
        for path, content in self.files.items():
            size = self.sizes.get(path, len(content))
            digest = hashlib.sha256(content).hexdigest()
            lfs = {"size": size, "sha256": digest, "pointerSize": 135}
            siblings.append({"rfilename": path, "size": size, "blobId": "0" * 40, "lfs": lfs})
        answer = {"id": DATASET, "sha": COMMIT, "siblings": siblings}
        return Answer(json.dumps(answer).encode(), headers={"Content-Type": "application/json"})

    def _content(self, path: str, wanted: str | None) -> Answer:
        content = self.files[path]
        if self.spoiled.get(path, 0) > 0:
            self.spoiled[path] -= 1
            content = content[:10] + bytes([content[10] ^ 1]) + content[11:]
        if wanted is None or not self.ranges:
            return Answer(content)
        start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        return Answer(content[start:], 206, headers)
