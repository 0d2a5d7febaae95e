"""Makes the fonts of the pages, src/web/assets/fonts, and of shared pictures, src/http/pictures/fonts.

Needs fonttools and brotli (pip), and the packages of docs/dependencies.md ("Fonts"), unpacked side by side:

    python3 scripts/fonts/make-fonts.py FOLDER

FOLDER/<package>/files has the fonts of @fontsource/<package>. The same packages give the same glyphs.
"""

import json
import sys
import tempfile
from pathlib import Path

from fontTools import subset
from fontTools.merge import Merger
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

SOURCE = Path(sys.argv[1])
ROOT = Path(__file__).parents[2]
WEB = ROOT / "src/web/assets/fonts"
PICTURES = ROOT / "src/http/pictures/fonts"
# weight of headings; other weights are not used
WEIGHT = 600


def encoded(first: int, last: int, encoding: str) -> set[int]:
    """Characters of a two-byte set of a standard, by their first bytes."""
    found = set()
    for lead in range(first, last):
        for trail in range(0xA1, 0xFF):
            try:
                found.add(ord(bytes([lead, trail]).decode(encoding)))
            except UnicodeDecodeError:
                pass
    return found


# the first level of GB 2312 is the 3,755 most used characters; KS X 1001 has the 2,350 most used syllables
HANZI = encoded(0xB0, 0xD8, "gb2312")
HANGUL = encoded(0xB0, 0xC9, "euc-kr")


def slices(package: str) -> dict[str, set[int]]:
    """The code points of each file of a package, by the name of its part."""
    named = {}
    for part, ranges in json.loads((SOURCE / package / "unicode.json").read_text()).items():
        points = set()
        for text in ranges.split(","):
            first, _, last = text.strip()[2:].partition("-")
            points |= set(range(int(first, 16), int(last or first, 16) + 1))
        named[part.strip("[]")] = points
    return named


def save(font: TTFont, path: Path, flavor: str | None) -> None:
    font.flavor = flavor
    font["head"].modified = font["head"].created
    font.save(path, reorderTables=None)


def only(font: TTFont, points: set[int]) -> TTFont:
    options = subset.Options()
    options.layout_features = ["*"]
    options.hinting = False
    options.notdef_outline = True
    reducer = subset.Subsetter(options)
    reducer.populate(unicodes=points)
    reducer.subset(font)
    return font


def script(package: str, part: str, name: str, points: set[int] | None = None) -> None:
    font = TTFont(SOURCE / package / f"files/{package}-{part}-400-normal.woff2")
    save(only(font, points) if points else font, WEB / f"{name}.woff2", "woff2")


def collected(package: str, points: set[int], name: str) -> None:
    """Glyphs of many files of a package in one."""
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for part, covered in slices(package).items():
            wanted = covered & points
            file = SOURCE / package / f"files/{package}-{part}-400-normal.woff2"
            if not wanted or not file.exists():
                continue
            font = only(TTFont(file), wanted)
            for table in ("GSUB", "GPOS", "GDEF", "vhea", "vmtx", "VORG", "BASE"):
                if table in font:
                    del font[table]
            parts.append(f"{folder}/{part}.ttf")
            save(font, Path(parts[-1]), None)
        save(Merger().merge(parts), WEB / f"{name}.woff2", "woff2")


def serif() -> None:
    package = "source-serif-4"
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for part in ("latin", "latin-ext", "cyrillic", "greek", "vietnamese"):
            variable = TTFont(SOURCE / package / f"files/{package}-{part}-wght-normal.woff2")
            font = instantiateVariableFont(variable, {"wght": WEIGHT})
            rename(font)
            save(font, WEB / f"serif-{part}.woff2", "woff2")
            parts.append(f"{folder}/{part}.ttf")
            save(font, Path(parts[-1]), None)
        # the library that draws pictures cannot read woff2
        merged = Merger().merge(parts)
        rename(merged)
        save(merged, PICTURES / "serif.ttf", None)


def rename(font: TTFont) -> None:
    """The licence keeps the name of the original for unchanged ones."""
    names = font["name"]
    names.names = [record for record in names.names if record.nameID in (0, 13, 14)]
    for number, text in ((1, "Satscribe Serif"), (2, "Bold"), (4, "Satscribe Serif Bold"), (5, "1"), (6, "SatscribeSerif-Bold")):
        names.setName(text, number, 3, 1, 0x409)
    font["OS/2"].usWeightClass = 700
    font["OS/2"].fsSelection = (font["OS/2"].fsSelection & ~0x40) | 0x20
    font["head"].macStyle = 1


def blocks(points: set[int], count: int) -> list[set[int]]:
    ordered = sorted(points)
    size = -(-len(ordered) // count)
    return [set(ordered[at : at + size]) for at in range(0, len(ordered), size)]


WEB.mkdir(parents=True, exist_ok=True)
PICTURES.mkdir(parents=True, exist_ok=True)
serif()
for name in ("arabic", "hebrew", "thai", "devanagari", "runic"):
    script(f"noto-sans-{name}", name, name)
script("noto-sans-symbols-2", "braille", "braille")
# arrows to dingbats, without the pictographs that systems have in colour
script("noto-sans-symbols-2", "symbols", "symbols", set(range(0x2190, 0x2C00)))
script("noto-sans-math", "latin", "mathematical", set(range(0x2100, 0x2300)) | set(range(0x1D400, 0x1D800)))
collected("noto-sans-jp", set(range(0x3000, 0x3100)) | set(range(0xFF00, 0xFFF0)), "kana")
for number, points in enumerate(blocks(HANZI, 6)):
    collected("noto-sans-sc", points, f"hanzi-{number}")
    print(f"hanzi-{number}: U+{min(points):04X}-{max(points):04X}")
for number, points in enumerate(blocks(HANGUL, 2)):
    collected("noto-sans-kr", points, f"hangul-{number}")
    print(f"hangul-{number}: U+{min(points):04X}-{max(points):04X}")
