"""Write the comment of a review to its pull request, or update the one that is there: `review_comment.py FOLDER`.

The GitHub Action runs it with the Python of polyjudge; it needs nothing but the standard library. A comment that cannot
be written is a warning: the exit code of the review decides.
"""

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

PER_PAGE = 100
MOST_PAGES = 50
TIMEOUT_S = 30


def main(folder: Path) -> None:
    """Write the comment, unless there is neither a pull request nor anything to say."""
    number = pull_request()
    if number is None:
        say("notice", "This run is not about a pull request: there is nothing to comment on.")
        return
    if not os.environ.get("COMMENT_TOKEN"):
        say("warning", "There is no token to write the comment with.")
        return
    body = (folder / "comment.md").read_text(encoding="utf-8")
    review = json.loads((folder / "review.json").read_text(encoding="utf-8"))
    repository = f"repos/{os.environ['GITHUB_REPOSITORY']}"
    try:
        comment = find(f"{repository}/issues/{number}/comments", marker=body.splitlines()[0])
        if comment is not None:
            call("PATCH", f"{repository}/issues/comments/{comment}", {"body": body})
        elif review["findings"] or review["unjudged"]:
            call("POST", f"{repository}/issues/{number}/comments", {"body": body})
    except urllib.error.HTTPError as error:
        why = "It may only read, as for a pull request from a fork, or has no permission `pull-requests: write`."
        hint = f" {why}" if error.code in (401, 403, 404) else ""
        say("warning", f"The comment could not be written: GitHub answered {error.code}.{hint}")
    except (OSError, ValueError) as error:
        say("warning", f"The comment could not be written: {error}")


def pull_request() -> int | None:
    """Return the number of the pull request that the run is about."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    found = event.get("pull_request") or {}
    return found.get("number")


def find(address: str, *, marker: str) -> int | None:
    """Return the id of our comment with this first line; comments of others are never ours."""
    for page in range(1, MOST_PAGES + 1):
        comments = call("GET", f"{address}?per_page={PER_PAGE}&page={page}")
        for each in comments:
            author = (each.get("user") or {}).get("login")
            first = (each.get("body") or "").partition("\n")[0].rstrip("\r")
            if first == marker and author == os.environ["COMMENT_AUTHOR"]:
                return each["id"]
        if len(comments) < PER_PAGE:
            return None
    return None


def call(method: str, address: str, content: object = None) -> list[dict]:
    """Call GitHub's API; the token is in a header only, so that no list of processes shows it."""
    request = urllib.request.Request(
        f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/{address}",
        method=method,
        data=None if content is None else json.dumps(content).encode(),
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['COMMENT_TOKEN']}",
            "Content-Type": "application/json",
            "User-Agent": "polyjudge-review",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return json.load(answer)


def say(level: str, text: str) -> None:
    """Write an annotation of the workflow."""
    line = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    sys.stdout.write(f"::{level} title=polyjudge review::{line}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
