"""Files are opened as UTF-8, whatever their compression and encoding."""

import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from polyjudge.errors import DataError, EncodingError
from polyjudge.files.opening import inner_suffix, known_encoding, open_bytes

TEXTS = st.text(st.characters(codec="utf-8"), max_size=200)
ENCODINGS = {
    "utf-8-sig": b"\xef\xbb\xbf",
    "utf-16": b"",
    "utf-32": b"",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
}


def plain(content):
    return content


def zstd(content):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(content)


COMPRESSIONS = {"": plain, ".gz": gzip.compress, ".zst": zstd}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("opening")


def read(path, encoding="", offset=0):
    with open_bytes(path, encoding, offset=offset) as file:
        return file.read()


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@given(text=TEXTS, offset=st.integers(0, 300))
@example(text="x" * 100_000, offset=70_000)
def test_a_compressed_file_is_read_from_any_offset(folder, suffix, text, offset):
    path = folder / f"t.csv{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](f"a{text}".encode()))

    assert read(path, offset=offset) == f"a{text}".encode()[offset:]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be"])
@given(text=TEXTS, offset=st.integers(0, 300))
@example(text="é" * 70_000, offset=65_537)
def test_a_byte_order_mark_names_the_encoding(folder, encoding, text, offset):
    path = folder / "t.csv"
    path.write_bytes(ENCODINGS[encoding] + f"a{text}".encode(encoding))

    assert read(path, offset=offset).removeprefix(b"\xef\xbb\xbf") == f"a{text}".encode()[offset:]


def test_all_parts_of_a_file_that_was_compressed_in_parts_are_read(folder):
    for suffix, compress in COMPRESSIONS.items():
        path = folder / f"parts.csv{suffix}"
        path.write_bytes(compress(b"one,") + compress(b"") + compress(b"two"))

        assert read(path) == b"one,two"


def test_a_byte_order_mark_inside_a_compressed_file_counts_too(folder):
    path = folder / "u.csv.gz"
    path.write_bytes(gzip.compress("Füße".encode("utf-16")))

    assert read(path) == "Füße".encode()


def test_an_encoding_is_used_if_it_is_named(folder):
    path = folder / "w.csv"
    path.write_bytes("Füße €".encode("windows-1252"))

    assert read(path, "windows-1252") == "Füße €".encode()


def test_bytes_that_are_not_text_in_the_encoding_are_named_with_their_place(folder):
    path = folder / "broken.csv"
    path.write_bytes(b"\xff\xfea\x00b\x00c")

    with pytest.raises(EncodingError, match="not UTF-16 text"):
        read(path)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("content", [b"not compressed", "truncated"], ids=["other content", "truncated"])
def test_a_file_that_cannot_be_decompressed_is_refused(folder, suffix, content):
    path = folder / f"d.csv{suffix}"
    whole = COMPRESSIONS[suffix](bytes(range(256)) * 4000)
    path.write_bytes(whole[: len(whole) // 2] if content == "truncated" else content)

    with pytest.raises(DataError, match="cannot be decompressed"):
        read(path)


def test_the_suffix_of_the_format_is_inside_that_of_the_compression(tmp_path):
    names = {"a.csv": ".csv", "a.CSV.GZ": ".csv", "a.jsonl.zst": ".jsonl", "a.gz": "", "a.tar.csv": ".csv"}
    assert {name: inner_suffix(tmp_path / name) for name in names} == names


def test_only_text_encodings_are_known():
    assert known_encoding("Windows-1252") == "cp1252"
    assert known_encoding("base64") == known_encoding("no-such") == ""
