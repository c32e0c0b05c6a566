"""Take the picture of the page of the whole paper.

Run ``granulearn bench paper --results out/paper.db``, which takes some minutes with the sets of the
collection (``GRANULEARN_DATA``), then ``python docs/make_paper_picture.py out/paper.db``; it writes
docs/images/paper_page.png.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from granulearn.bench import (  # noqa: E402
    Store,
    summarize_paper,
    write_page,
)
from tests.bench.browser import chromium  # noqa: E402

SIZE = {"width": 1200, "height": 1000, "deviceScaleFactor": 1, "mobile": False}


def main(results: str) -> None:
    """Write the page, and take the picture of its first screen."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "paper.html"
        with Store(Path(results), readonly=True) as store:
            write_page(summarize_paper(store), page)
        with chromium(Path(folder) / "profile", "--hide-scrollbars") as browser:
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
            browser.get(page.as_uri())
            browser.save_screenshot(str(HERE / "images" / "paper_page.png"))


if __name__ == "__main__":
    main(sys.argv[1])
