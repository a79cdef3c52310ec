"""Change a file of an atlas together with its checksums."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

# Private module: no public function writes a manifest.
from landscape.pipeline.commit import write_manifest
from landscape.store.manifest import Output, read_manifest


def forge(folder: Path, name: str, content: bytes) -> None:
    """Replace a file of an atlas and its checksum in the manifest."""
    (folder / name).write_bytes(content)
    manifest = read_manifest(folder)
    stages = {}
    for stage, record in manifest.stages.items():
        output = Output(hashlib.sha256(content).hexdigest(), len(content))
        outputs = record.outputs | ({name: output} if name in record.outputs else {})
        stages[stage] = dataclasses.replace(record, outputs=outputs)
    write_manifest(folder, dataclasses.replace(manifest, stages=stages))
