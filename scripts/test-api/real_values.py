"""Hooks of Schemathesis for scripts/test-api/run.sh.

Made-up ids, hashes and addresses have the right form and name nothing: every answer would be 404. So about half of them are
replaced by what the server has. The choice follows from the made-up value, so that a seed always gives the same requests.
Answers are counted by operation and status; the counts are written to TEST_API_COUNTS at the end.
"""

import atexit
import json
import os
import re
import urllib.request
import zlib
from collections import Counter

import schemathesis

ORIGIN = os.environ["TEST_API_ORIGIN"]
counts = Counter()


def ask(path):
    request = urllib.request.Request(ORIGIN + path, headers={"Accept": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def real_values():
    ids = ask("/inscriptions?limit=500")["ids"]
    # a few of each kind: their values are written once, at the start
    known = [ask("/inscription/" + each) for each in ids[:: max(1, len(ids) // 60)]]
    tip = ask("/status")["height"]
    heights = [str(tip * part // 20) for part in range(21)]
    hashes = ask("/blocks")["blocks"][:50]
    records = ask("/search?text=a&itemsPerPage=100")["results"]
    outpoints = [each["satpoint"].rsplit(":", 1)[0] for each in known if each["satpoint"]]
    return {
        "id": ids,
        "number": [str(each["number"]) for each in known if each["number"] is not None],
        "txid": [each.split("i")[0] for each in ids],
        "outpoint": outpoints,
        "address": [each["address"] for each in known if each["address"]],
        "height": heights,
        "block": heights + hashes,
        "hash": [each["contenthash"] for each in records if each["contenthash"]],
        "text": ["a", "text", "brc-20", "mint,ordi", "🎨", "html", '"p":'],
        "contentType": ["text/plain", "image/*", "text/html;charset=utf-8", "image/png"],
        "metaprotocol": ["brc-20", "cbrc-20:mint=ordi"],
        "place": ["0", "1", "2"],
    }


VALUES = real_values()

# the kind of value of a parameter, by its name; some names mean different things on different paths
KINDS = {
    **{name: "id" for name in ("id", "parent", "delegate", "gallery", "inscription")},
    **{name: name for name in ("txid", "outpoint", "address", "height", "hash", "text", "contentType", "metaprotocol")},
    "block": "height",
    "from": "height",
    "to": "height",
    **{name: "place" for name in ("page", "item", "child", "transaction", "input")},
    "q": "id",
}
QUERY_IN_PATH = (("/block", "block"), ("/r/block", "block"), ("/search", "id"), ("/inscription/", "id"))


def kind_of(name, path):
    if name == "query":
        return next((kind for start, kind in QUERY_IN_PATH if path.startswith(start)), None)
    if path.startswith("/gallery/{id}/{item}") and name == "id":
        return "id"
    return KINDS.get(name)


def with_real(context, parameters):
    if not isinstance(parameters, dict):
        return parameters
    path = context.operation.path
    changed = dict(parameters)
    for name, value in parameters.items():
        choices = VALUES.get(kind_of(name, path) or "")
        # a value that is not a text is meant to be refused
        if not choices or not isinstance(value, str):
            continue
        choice = zlib.crc32(f"{path} {name} {value}".encode("utf-8", "surrogatepass"))
        if choice % 2 == 0:
            changed[name] = choices[choice // 2 % len(choices)]
    return changed


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    return with_real(context, path_parameters)


@schemathesis.hook
def map_query(context, query):
    return with_real(context, query)


@schemathesis.hook
def map_body(context, body):
    fields = body.get("hashes") if isinstance(body, dict) else body
    if not isinstance(fields, list):
        return body
    kind = {"/outputs": "outpoint", "/search/hashes": "hash"}.get(context.operation.path, "id")
    choices = VALUES[kind]
    mapped = [
        choices[zlib.crc32(each.encode("utf-8", "surrogatepass")) % len(choices)]
        if isinstance(each, str) and re.fullmatch(r"[0-9a-fA-F]{64}.*", each)
        else each
        for each in fields
    ]
    return {**body, "hashes": mapped} if isinstance(body, dict) else mapped


@schemathesis.hook
def before_call(context, case, kwargs):
    """Most paths have a page and JSON. Inscribed bodies come as inscribed: some name an encoding that they do not have."""
    if "content" in case.operation.path:
        case.headers = {**(case.headers or {}), "Accept-Encoding": "identity"}
    if case.headers is not None and "Accept" in case.headers:
        return
    choice = zlib.crc32(repr((case.path_parameters, case.query)).encode("utf-8", "surrogatepass")) % 3
    case.headers = {**(case.headers or {}), "Accept": ("application/json", "text/html", "*/*")[choice]}


@schemathesis.hook
def after_call(context, case, response):
    counts[f"{case.operation.method.upper()} {case.operation.path}", response.status_code] += 1


def write_counts():
    rows = [[operation, status, count] for (operation, status), count in sorted(counts.items())]
    with open(os.environ["TEST_API_COUNTS"], "w", encoding="utf-8") as file:
        json.dump(rows, file)


atexit.register(write_counts)
