"""What a drawn picture carries with it: enough to draw it again."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from landscape.errors import InputError

Picture = NDArray[np.uint8]
Record = dict[str, Any]

KEY = "Landscape"
"""Text chunk of a PNG that holds the record, as JSON."""

_SIGN = "start_sha256"  # every record of a diffusion has it
_LIBRARIES = ("landscape", "diffusers", "transformers", "torch")


def digest(picture: Picture) -> str:
    """Name a picture by its pixels.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)

    Returns
    -------
    str
        SHA-256 of shape and pixels, hexadecimal.

    Examples
    --------
    >>> digest(np.zeros((1, 1, 3), dtype=np.uint8))[:8]
    '85e34509'
    """
    shape = "x".join(map(str, picture.shape)).encode()
    return hashlib.sha256(shape + np.ascontiguousarray(picture).tobytes()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of the libraries that a picture depends on.

    Examples
    --------
    >>> sorted(versions())
    ['diffusers', 'landscape', 'torch', 'transformers']
    """
    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            found[library] = "not installed"
    return found


def text_chunks(record: Mapping[str, Any]) -> dict[str, str]:
    """Put a record into words for the text chunks of a PNG.

    Parameters
    ----------
    record : mapping
        As `landscape.outreach.diffusion.redraw` gives it.

    Returns
    -------
    dict of str to str
        ``Landscape`` holds all of it as JSON; ``parameters`` holds the customary lines that
        viewers of generated pictures show; ``XML:com.adobe.xmp`` the XMP packet.

    Examples
    --------
    >>> record = {"prompt": "hills", "negative_prompt": "text", "seed": 3, "model": "m"}
    >>> text_chunks(record)["parameters"].splitlines()[:2]
    ['hills', 'Negative prompt: text']
    """
    said = {
        "Steps": record.get("settings", {}).get("steps"),
        "Sampler": record.get("scheduler", {}).get("class"),
        "CFG scale": record.get("settings", {}).get("guidance"),
        "Seed": record.get("seed"),
        "Denoising strength": record.get("strength"),
        "Model": record.get("model"),
        "Model revision": record.get("revision"),
    }
    parts = [f"{name}: {value}" for name, value in said.items() if value is not None]
    lines = [
        record.get("prompt", ""),
        f"Negative prompt: {record.get('negative_prompt', '')}",
        ", ".join(parts),
    ]
    return {
        KEY: as_json(record),
        "parameters": "\n".join(lines),
        "XML:com.adobe.xmp": xmp_packet(record),
    }


def xmp_packet(record: Mapping[str, Any]) -> str:
    """Put a record into an XMP packet, for JPEG, WebP and PDF (ISO 16684-1).

    The digital source type of the IPTC says that a model took part.

    Parameters
    ----------
    record : mapping

    Returns
    -------
    str
        The packet. Equal records give equal packets.

    Examples
    --------
    >>> "a &lt; b" in xmp_packet({"prompt": "a < b"})
    True
    """
    kind = (
        "compositeWithTrainedAlgorithmicMedia" if record.get("kept", True) else "algorithmicMedia"
    )
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:xmp="http://ns.adobe.com/xap/1.0/" '
        'xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">\n'
        f"<xmp:CreatorTool>Landscape {escape(str(record.get('versions', {}).get('landscape', '')))}"
        "</xmp:CreatorTool>\n"
        "<Iptc4xmpExt:DigitalSourceType>"
        f"http://cv.iptc.org/newscodes/digitalsourcetype/{kind}"
        "</Iptc4xmpExt:DigitalSourceType>\n"
        '<dc:description><rdf:Alt><rdf:li xml:lang="x-default">'
        f"{escape(as_json(record))}</rdf:li></rdf:Alt></dc:description>\n"
        '</rdf:Description></rdf:RDF></x:xmpmeta>\n<?xpacket end="w"?>'
    )


def as_json(record: Mapping[str, Any]) -> str:
    """Write a record as JSON on one line, keys in order.

    Examples
    --------
    >>> as_json({"b": 1, "a": "山"})
    '{"a": "山", "b": 1}'
    """
    return json.dumps(record, ensure_ascii=False, sort_keys=True)


def png_bytes(picture: Picture, record: Mapping[str, Any]) -> bytes:
    r"""Write a picture with its record as a PNG.

    Parameters
    ----------
    picture : ndarray of uint8, shape (height, width, 3)
    record : mapping

    Returns
    -------
    bytes
        The same input gives the same bytes.

    Examples
    --------
    >>> png_bytes(np.zeros((1, 1, 3), dtype=np.uint8), {"seed": 1})[:4]
    b'\x89PNG'
    """
    from PIL import Image, PngImagePlugin

    about = PngImagePlugin.PngInfo()
    for name, words in text_chunks(record).items():
        about.add_itxt(name, words)
    packed = io.BytesIO()
    Image.fromarray(picture).save(packed, format="png", pnginfo=about)
    return packed.getvalue()


def read_record(path: str | os.PathLike[str]) -> Record:
    """Read how a picture was drawn, from the picture or from the sidecar beside it.

    Parameters
    ----------
    path : path
        ``.png`` or ``.json``.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        If the file cannot be read, or no diffusion model drew the picture.

    Examples
    --------
    >>> read_record("no-such.png")
    Traceback (most recent call last):
    landscape.errors.InputError: no-such.png cannot be read: No such file or directory.
    """
    from PIL import Image

    path = Path(path)
    try:
        if path.suffix.lower() == ".json":
            words = path.read_text(encoding="utf-8")
        else:
            with Image.open(path) as picture:
                picture.load()  # the text may stand after the pixels
                words = str(picture.info.get(KEY, "{}"))
        found = _search(json.loads(words))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} holds no record that can be read: {error}.") from error
    if found is None:
        raise InputError(
            f"{path} holds no record of a diffusion; give a picture that a model has drawn, "
            "or the .json beside it."
        )
    return found


def _search(inside: Any) -> Record | None:
    """Find the record in a sidecar, which holds other things as well."""
    if not isinstance(inside, dict):
        return None
    if _SIGN in inside:
        return inside
    return next((found for part in inside.values() if (found := _search(part))), None)
