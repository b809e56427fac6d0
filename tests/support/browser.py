"""A real browser, for what a page looks like: Chromium without a window, asked by the protocol of its developer tools.

It speaks through two pipes, so it needs no port, no driver and no package.
"""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
"""Where it is; None where it is not."""
_OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--disable-dev-shm-usage", "--remote-debugging-pipe", "about:blank"]
_PATIENCE_SECONDS = 300.0
"""With a browser that hangs, so that tests end."""
_DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Browser:
    """One tab. `said` are the events that the browser sent: loaded resources and errors."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, os.fdopen(answers, "rb")
        self._rest, self._numbers, self._session = b"", itertools.count(1), ""
        self.said: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the browser's answer to a command. Raises RuntimeError for its errors."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") != number:
                self.said.append(message)
            elif "error" in message:
                raise RuntimeError(f"{method}: {message['error']}")
            else:
                result: dict[str, Any] = message["result"]
                return result

    def look(self, page: Path, width: int, theme: str, height: int = 900) -> None:
        """Show a file, in a window so wide, in the theme "light" or "dark"."""
        self.said.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(one.get("method") == "Page.loadEventFired" for one in self.said):
            self.said.append(self._next())
        self.ask(_DRAWN)

    def ask(self, script: str) -> Any:
        """The value of an expression of JavaScript, in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def picture(self, height: int | None = None) -> bytes:
        """Return a PNG of the page: all of it, or this height of it from the top."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": height or size["height"], "scale": 1}
        return base64.b64decode(self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select.select([self._answers], [], [], _PATIENCE_SECONDS)[0]:
                raise RuntimeError("the browser says nothing")
            part = os.read(self._answers.fileno(), 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        said: dict[str, Any] = json.loads(message)
        return said


@contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """A browser whose profile is below a folder."""
    assert CHROMIUM is not None
    commands_read, commands = os.pipe()
    answers, answers_write = os.pipe()

    def at_3_and_4() -> None:
        read, write = os.dup(commands_read), os.dup(answers_write)
        os.dup2(read, 3)
        os.dup2(write, 4)

    with open(folder / "chromium.log", "wb") as log, subprocess.Popen(
            [CHROMIUM, f"--user-data-dir={folder}/profile", *_OPTIONS], close_fds=False, preexec_fn=at_3_and_4,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
        os.close(commands_read)
        os.close(answers_write)
        try:
            yield Browser(commands, answers)
        finally:
            process.terminate()
            os.close(commands)
