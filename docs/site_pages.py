"""What the site has beside the files in docs/, and the order of folders: mkdocs calls these functions (mkdocs.yml)."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parent
ROOT = DOCS.parent
ELSEWHERE = {
    "../README.md": "README.md",
    "../benchmarks/RESULTS.md": "RESULTS.md",
    "../CHANGELOG.md": "CHANGELOG.md",
    "../CONTRIBUTING.md": "CONTRIBUTING.md",
    "../examples/README.md": "EXAMPLES.md",
    "../jsondiff/README.md": "jsondiff.md",
    "../keysearch/README.md": "keysearch.md",
}
"""Where links from docs/ lead that go out of it: the file, and its page in the site."""
_LINK = re.compile(r"(\]\()([^)#\s]+)")


def on_config(config: Any) -> Any:
    """Put the pages of folders into the navigation."""
    config.nav = _with_folders(config.nav)
    return config


def _with_folders(nav: Any) -> Any:
    if isinstance(nav, list):
        return [_with_folders(entry) for entry in nav]
    if isinstance(nav, dict):
        return {title: _with_folders(entry) for title, entry in nav.items()}
    return _pages(DOCS / nav) if nav.endswith("/") else nav


def _pages(folder: Path) -> list[str]:
    """A folder's README, the pages that it links to, in its order, and then all others."""
    index = folder / "README.md"
    linked = [link for _, link in _LINK.findall(index.read_text()) if "/" not in link] if index.exists() else []
    found = sorted(path.name for path in folder.glob("*.md"))
    names = [name for name in dict.fromkeys(["README.md", *linked, *found]) if name in found]
    return [f"{folder.name}/{name}" for name in names]


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from elsewhere in the repository."""
    for link, name in ELSEWHERE.items():
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, abs_src_path=str((DOCS / link).resolve())))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to where those pages are here, out of docs/ and back."""
    if page.file.generated_by:
        home = next(link for link, name in ELSEWHERE.items() if name == page.file.src_uri)
        folder = (DOCS / home).resolve().parent
        return _LINK.sub(lambda link: link[1] + _moved(link[2], folder), markdown)
    return _LINK.sub(lambda link: link[1] + ELSEWHERE.get(link[2], link[2]), markdown)


def _moved(link: str, folder: Path) -> str:
    """A link of a page that was in a folder of the repository."""
    if link.startswith(("http:", "https:")):
        return link
    target = (folder / link).resolve()
    for known, name in ELSEWHERE.items():
        if (DOCS / known).resolve() == target:
            return name
    return str(target.relative_to(DOCS)) if target.is_relative_to(DOCS) else link
