"""Make the documentation site: `python docs/site/build.py FOLDER` ends with the path to open."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import api
import catalogue
import experiments_page
import notebook
import tables
import tutorial
import verbs
from stage import ROOT, pages_of, stage

from logpost.errors import InputError

CONFIG = Path(__file__).resolve().parent / "mkdocs.yml"


def main(folder: Path) -> int:
    """Exit status of mkdocs, for which a broken link is an error."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    pages.mkdir(parents=True)
    try:
        findings = catalogue.write(pages, folder / "truth")
        tutorial.write(pages, folder / "tutorial")
        notebook.write(pages, folder / "tutorial")
    except InputError as error:
        print(f"docs: {error}", file=sys.stderr)
        return 2
    tables.write(pages)
    api.write(pages)
    verbs.write(pages)
    experiments_page.write(pages, ROOT / experiments_page.KEPT)
    first = "      - findings/index.md\n"
    every = "".join(f"      - {page}\n" for page in findings)
    verb = f"      - {verbs.PAGES[0]}\n"
    config = CONFIG.read_text(encoding="utf-8").replace(first, every)
    config = config.replace(verb, "".join(f"      - {page}\n" for page in verbs.PAGES))
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    stage(pages_of(config), pages)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-f", folder / "mkdocs.yml"],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    if done.returncode == 0:
        print("its search works when served: python -m http.server -d", folder / "site")
        print(folder / "site" / "index.html")
    return done.returncode


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/site/build.py FOLDER")
    sys.exit(main(Path(sys.argv[1]).resolve()))
