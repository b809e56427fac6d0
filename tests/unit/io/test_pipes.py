"""A pipe that nobody writes to where a file is expected: an error at once, where a read would wait forever."""

import os

import pytest

import applier
from applier.errors import UsageError
from applier.io.encryption.keys import Keys
from applier.io.resolver import check_regular, read_text

USES = {
    "keyring": lambda pipe, folder: Keys([pipe], []).of(["x"]),
    "key file": lambda pipe, folder: Keys([], [pipe]).of(["x"]),
    "secret": lambda pipe, folder: Keys([], [f"{folder}/salted"], pipe).of(["x"]),
    "option file": lambda pipe, folder: applier.archive("mysql://u@127.0.0.1:1/", f"{folder}/out", defaults_file=pipe),
    "text": lambda pipe, folder: read_text(pipe),
    "dump": lambda pipe, folder: applier.import_dump(pipe, f"{folder}/out"),
    "binlog": lambda pipe, folder: applier.summary(pipe),
}


@pytest.mark.parametrize("use", USES)
def test_a_pipe_is_refused(tmp_path, use):
    os.mkfifo(tmp_path / "pipe.000001")
    (tmp_path / "salted").write_bytes(b"Salted__")
    with pytest.raises(UsageError, match="not a regular file") as error:
        USES[use](str(tmp_path / "pipe.000001"), tmp_path)
    assert error.value.file == str(tmp_path / "pipe.000001") and error.value.hint


def test_devices_are_refused_and_files_folders_and_what_is_missing_are_not(tmp_path):
    with pytest.raises(UsageError, match="device"):
        check_regular("/dev/zero")
    for fine in (str(tmp_path), __file__, str(tmp_path / "none"), "s3://bucket/x"):
        check_regular(fine)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"elements":' * 100_000, "[]", '{"elements": 1}',
                                  '{"elements": [[]]}', '{"elements": [{"data_id": [], "data": ""}]}', '"x"', "1"])
def test_a_keyring_of_any_shape_is_one_error(tmp_path, text):
    (tmp_path / "keyring").write_text(text)
    with pytest.raises(UsageError, match="not a keyring of"):
        Keys([str(tmp_path / "keyring")], []).of(["x"])
