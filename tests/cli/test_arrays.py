"""Arrays from files and words, and back."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from PIL import Image
from tdl.compiler.cli.arrays import Wanted, check_writable, read_array, write_arrays
from tdl.compiler.cli.fault import Fault


def wanted(dtype: Any = np.float32, *shape: int | None, name: str = "X") -> Wanted:
    return Wanted(name, np.dtype(dtype), shape)


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("3", np.int8, 3),
        ("-2.5", np.float32, -2.5),
        ("[1, 2]", np.float64, [1.0, 2.0]),
        ("[[1],[2]]", np.uint8, [[1], [2]]),
        ("true", np.bool_, True),
        ("[-inf, nan, inf]", np.float32, [-np.inf, np.nan, np.inf]),
        ("1e40", np.float32, np.inf),
        ("2.5", ml_dtypes.bfloat16, 2.5),
        ("18446744073709551615", np.uint64, 2**64 - 1),
    ],
)
def test_numbers_as_written(text: str, dtype: Any, expected: Any) -> None:
    array = read_array(text, wanted(dtype))
    assert array.dtype == dtype
    np.testing.assert_array_equal(array.astype(np.float64), np.array(expected, np.float64))


@pytest.mark.parametrize(
    ("text", "dtype"), [("300", np.uint8), ("-1", np.uint8), ("2.5", np.int32), ("[1, 2.5]", np.int64)]
)
def test_numbers_that_the_dtype_cannot_hold(text: str, dtype: Any) -> None:
    with pytest.raises(Fault, match="cannot hold"):
        read_array(text, wanted(dtype))


@pytest.mark.parametrize("text", ["[1, [2]]", "[", "1 2", "[" * 10_000, '["a"]', "{}", "1_000", "-"])
def test_words_that_are_no_numbers(text: str) -> None:
    with pytest.raises(Fault, match="X: "):
        read_array(text, wanted())


def test_unknown_kind_of_file_is_named() -> None:
    with pytest.raises(Fault, match=r"cannot read data\.parquet") as fault:
        read_array("data.parquet", wanted())
    assert ".npy" in fault.value.hint


def test_npy_is_taken_as_it_is(tmp_path: Path) -> None:
    array = np.arange(6, dtype=np.float64).reshape(2, 3)
    np.save(tmp_path / "a.npy", array)
    read = read_array(str(tmp_path / "a.npy"), wanted(np.float32, None, None))
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, array)


def test_npz_by_key_by_name_and_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "w.npz")
    np.savez(path, X=np.array([1]), b=np.array([2]))
    assert read_array(path, wanted())[0] == 1
    assert read_array(f"{path}:b", wanted())[0] == 2
    with pytest.raises(Fault, match="no array c") as fault:
        read_array(f"{path}:c", wanted())
    assert "X, b" in fault.value.hint
    with pytest.raises(Fault, match="several arrays and none called W"):
        read_array(path, wanted(name="W"))
    np.savez(path, only=np.array([3]))
    assert read_array(path, wanted())[0] == 3


def test_files_that_are_not_what_they_are_called(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(Fault, match="Python objects"):
        read_array(str(tmp_path / "objects.npy"), wanted())
    for name, message in (("a.npy", "not a NumPy file"), ("a.npz", "not a NumPy file"), ("a.png", "not a picture")):
        for content in (b"", b"hello world", b"\x93NUMPY\x01\x00\xff"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(Fault, match=message):
                read_array(str(tmp_path / name), wanted(np.float32, None, None))


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.png"])
def test_missing_file_offers_a_near_one(tmp_path: Path, name: str) -> None:
    (tmp_path / f"b{name}").touch()
    with pytest.raises(Fault, match="no such file") as fault:
        read_array(str(tmp_path / name), wanted())
    assert f"b{name}" in fault.value.hint


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint64, np.bool_, ml_dtypes.bfloat16, np.float16])
def test_csv_round_trip(tmp_path: Path, dtype: Any) -> None:
    array = (np.arange(6).reshape(2, 3) % 2).astype(dtype)
    path = str(tmp_path / "a.csv")
    write_arrays(path, {"X": array})
    np.testing.assert_array_equal(read_array(path, wanted(dtype, None, None)), array)


def test_csv_header_vectors_and_faults(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("\ufeffname,b\n1,2\n", encoding="utf-8")
    np.testing.assert_array_equal(read_array(str(path), wanted(np.float32, None)), [1, 2])
    path.write_text("1\n2\n3\n")
    np.testing.assert_array_equal(read_array(str(path), wanted(np.int32, None)), [1, 2, 3])
    path.write_text("7\n")
    assert read_array(str(path), wanted(np.int32)).shape == ()
    path.write_text("1,x\n2,3\n1,x\n")
    with pytest.raises(Fault, match="x"):
        read_array(str(path), wanted(np.float32, None, None))
    path.write_text("300\n")
    with pytest.raises(Fault, match="uint8 cannot hold 300"):
        read_array(str(path), wanted(np.uint8, None))


@pytest.mark.parametrize(
    ("dtype", "shape", "expected"),
    [
        (np.uint8, (None, None), (4, 6)),
        (np.float32, (None, None), (4, 6)),
        (np.float32, (None, None, 3), (4, 6, 3)),
        (np.uint8, (3, None, None), (3, 4, 6)),
        (np.uint8, (None, None, None), (4, 6, 3)),
        (np.uint8, (None, None, 4), (4, 6, 4)),
        (np.uint8, (1, None, None), (1, 4, 6)),
    ],
)
def test_pictures_take_the_declared_form(tmp_path: Path, dtype: Any, shape: Any, expected: tuple[int, ...]) -> None:
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    read = read_array(str(tmp_path / "a.png"), wanted(dtype, *shape))
    assert read.shape == expected
    assert read.dtype == dtype
    if expected[-1] == 3:
        np.testing.assert_allclose(read, pixels / 255 if dtype == np.float32 else pixels, rtol=1e-6)


def test_pictures_that_do_not_fit(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(tmp_path / "a.png")
    for unfit in (wanted(np.float32, None), wanted(np.int8, None, None), wanted(np.float32, *[None] * 4)):
        with pytest.raises(Fault, match="X"):
            read_array(str(tmp_path / "a.png"), unfit)


def test_deep_pictures(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 65535]], np.uint16)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_array(str(tmp_path / "a.png"), wanted(np.float32, None, None)), [[0, 1]])
    np.testing.assert_array_equal(read_array(str(tmp_path / "a.png"), wanted(np.uint8, None, None)), [[0, 255]])


def pixels_of(path: Path) -> Any:
    return np.asarray(Image.open(io.BytesIO(path.read_bytes())))


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[0, 0.5, 1, 7, -1, np.nan]], np.float32), [[0, 128, 255, 255, 0, 0]]),
        (np.array([[True, False]]), [[255, 0]]),
        (np.array([[[9, 6]], [[8, 5]], [[7, 4]]], np.uint8), [[[9, 8, 7], [6, 5, 4]]]),
        (np.array([[[9, 8, 7, 6]]], np.uint8), [[[9, 8, 7, 6]]]),
        (np.array([[[9], [8]]], np.uint8), [[9, 8]]),
    ],
)
def test_writing_pictures(tmp_path: Path, array: Any, expected: Any) -> None:
    write_arrays(str(tmp_path / "a.png"), {"Y": array})
    np.testing.assert_array_equal(pixels_of(tmp_path / "a.png"), expected)


@pytest.mark.parametrize("array", [np.zeros((2, 2), np.int32), np.zeros(3), np.zeros((0, 2)), np.zeros((2, 2, 5))])
def test_what_is_no_picture_is_refused(tmp_path: Path, array: Any) -> None:
    with pytest.raises(Fault, match="cannot write"):
        write_arrays(str(tmp_path / "a.png"), {"Y": array})
    assert not list(tmp_path.iterdir())


def test_npy_and_npz_round_trip_keeps_bf16(tmp_path: Path) -> None:
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    for name in ("a.npy", "a.npz"):
        write_arrays(str(tmp_path / name), {"Y": array})
        read = read_array(str(tmp_path / name), wanted(ml_dtypes.bfloat16, None, name="Y"))
        assert read.dtype == array.dtype
        np.testing.assert_array_equal(read, array)


@pytest.mark.parametrize("name", ["out.parquet", "out", "nowhere/out.npy"])
def test_output_files_are_checked_beforehand(tmp_path: Path, name: str) -> None:
    with pytest.raises(Fault, match="cannot write"):
        check_writable(str(tmp_path / name))


def test_tables_have_two_dimensions(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="3 dimensions"):
        write_arrays(str(tmp_path / "a.csv"), {"Y": np.zeros((1, 1, 1))})
