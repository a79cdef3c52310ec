"""Pages that are made from declarations: public names, commands, settings and variables."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import docstring_parser

import landscape
from landscape import _settings
from landscape.cli import _program

_VARIABLE = re.compile(r"[A-Z]+(?:_[A-Z]+)+")


def public_modules(name: str = "landscape") -> Iterator[ModuleType]:
    """Yield the package, its public subpackages, and the public modules that they list."""
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.iter_modules(module.__path__, f"{name}."):
        short = found.name.rpartition(".")[2]
        if short.startswith("_") or found.name in ("landscape.cli", "landscape.pipeline"):
            continue
        if found.ispkg:
            yield from public_modules(found.name)
        elif short in getattr(module, "__all__", ()) or found.name == "landscape.types":
            yield importlib.import_module(found.name)


def public_names(module: ModuleType) -> list[str]:
    """Return the public functions, classes and values of a module."""
    listed = getattr(module, "__all__", None)
    if listed is None:
        own = [name for name in vars(module) if not name.startswith("_")]
        listed = [n for n in own if getattr(vars(module)[n], "__module__", "") == module.__name__]
    return [
        n for n in listed if not inspect.ismodule(getattr(module, n)) and not n.startswith("__")
    ]


def module_page(module: ModuleType) -> str:
    """Return the page of a module: its docstring, a table of its names, and their docstrings."""
    title, names = module.__name__, public_names(module)
    lines = [title, "=" * len(title), "", f".. automodule:: {title}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {title}", ""]
    if names:
        lines += [".. autosummary::", "   :nosignatures:", "", *(f"   {n}" for n in names), ""]
    for name in names:
        value = getattr(module, name)
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        lines += [f".. auto{kind}:: {name}", *["   :members:"] * (kind == "class"), ""]
    return "\n".join(lines)


def modules_page() -> str:
    """Return the page that lists every module of the package with the first line of its text."""
    root = Path(landscape.__file__).parent
    parts = ["# Modules", "Every module of the package, by folder. Private modules start with _."]
    folders = sorted(
        {path.parent for path in root.rglob("*.py") if "node_modules" not in str(path)}
    )
    for folder in folders:
        name = folder.relative_to(root.parent).as_posix()
        files = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
        if files:
            rows = [f"| `{path.name}` | {cell(first_line(path))} |" for path in files]
            parts += [f"## {name}", "\n".join(["| module | |", "| --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def first_line(path: Path) -> str:
    """Return the first line of the docstring of a module, which is read and not imported."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ")


def commands_page() -> str:
    """Return the page of all commands, with the options, defaults and help of the program."""
    program = _program(["--install-completion"])  # with all groups of commands
    text = program.generate_docs(output_format="markdown", heading_level=1)
    text = re.sub(r"## Table of Contents\n.*?(?=\n\*\*Begin\*\*)", "", text, flags=re.DOTALL)
    text = text.partition("## landscape --install-completion")[0].rstrip()
    return text.replace("# landscape\n", "# Commands\n", 1) + "\n"


def settings_classes() -> list[type[_settings.Settings]]:
    """Return the classes of settings that the public packages list."""
    for module in list(public_modules()):
        public_names(module)  # imports it
    importlib.import_module("landscape.pipeline.stages")
    found, known = [_settings.Settings], []
    while found:
        known += (more := [c for f in found for c in f.__subclasses__()])
        found = more
    own = [c for c in known if re.match(r"landscape\.(?!cli)", c.__module__)]
    return sorted(set(own), key=lambda c: (c.__module__, c.__name__))


def settings_page() -> str:
    """Return the page of all settings and environment variables."""
    lines = ["# Settings", "", "Options of commands and arguments of functions have these types,"]
    lines += ["defaults and bounds. A value outside its bounds is an error."]
    for settings in settings_classes():
        lines += ["", f"## {settings.__name__}", "", (settings.__doc__ or "").split("\n\n")[0], ""]
        lines += ["| setting | type | default | values | meaning |", "|---|---|---|---|---|"]
        lines += [setting_row(settings, name) for name in settings.model_fields]
    lines += ["", "## Environment variables", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {cell(text)} |" for name, text in sorted(variables().items())]
    return "\n".join(lines) + "\n"


def setting_row(settings: type[_settings.Settings], name: str) -> str:
    """Return the row of a setting."""
    kind = _settings.bare_type(settings, name)
    kind = re.sub(r"\b(?:\w+\.)+", "", getattr(kind, "__name__", None) or str(kind))
    values = _settings.choices(settings, name)
    if values:
        kind, allowed = type(values[0]).__name__, ", ".join(f"`{value}`" for value in values)
    else:
        least, most = _settings.bounds(settings, name)
        parts = [] if least is None else [f"from {least:,}"]
        allowed = " ".join(parts + ([] if most is None else [f"to {most:,}"]))
    declared = _settings.field(settings, name)
    default = declared.default
    shown = "required" if declared.is_required() else "" if default is None else f"`{default!r}`"
    if declared.default_factory is not None:
        shown = "computed"
    help_text = _settings.help_of(settings, name)
    return f"| `{name}` | {cell(f'`{kind}`')} | {cell(shown)} | {allowed} | {cell(help_text)} |"


def cell(text: str) -> str:
    """Return a text as the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`")


def variables() -> dict[str, str]:
    """Return the environment variables with what docstrings and settings say about them."""
    said: dict[str, dict[str, None]] = {}
    texts = [
        (f"{settings.__name__}, {name}", f"{_settings.help_of(settings, name)}.")
        for settings in settings_classes()
        for name in settings.model_fields
    ]
    for path in sorted(Path(landscape.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_":
                parsed = docstring_parser.parse(ast.get_docstring(node) or "")
                about = f"{parsed.short_description} {parsed.long_description}".split(". ")
                sentences = [f"{s.rstrip('.')}." for s in about if _VARIABLE.search(s)]
                texts.append((node.name, " ".join(sentences)))
                texts += [(", ".join([node.name, *m.args[1:]]), m.description) for m in parsed.meta]
    for label, text in texts:
        if "environment variable" in (text := cell(text or "")):
            for name in _VARIABLE.findall(text):
                said.setdefault(name, {})[f"`{label}`: {text.replace('`', '')}"] = None
    return {name: " ".join(lines) for name, lines in said.items()}
