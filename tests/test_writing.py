"""Results are written as a whole or not at all, and never over the material."""

import os
import stat

import pytest

from mqlab.errors import CannotWriteError, OwnMaterialError
from mqlab.writing import refuse_material, whole, write


def test_a_result_takes_the_place_of_an_older_one_with_its_rights(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o640)
    write(target, "new \ud800")

    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new \\ud800", 0o640)
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_new_result_has_the_rights_that_the_user_gives_to_files(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.txt", "new")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_what_ends_in_the_middle_leaves_the_older_one(tmp_path, error):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def half():
        with whole(target) as new:
            new.write_text("half")
            raise error

    with pytest.raises((KeyboardInterrupt, CannotWriteError, ValueError)):
        half()

    assert (target.read_text(), [one.name for one in tmp_path.iterdir()]) == ("old", ["a.txt"])


def test_a_link_stays_one_and_a_pipe_or_device_is_written_as_it_is(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a.txt")
    write(tmp_path / "link", "text")
    (tmp_path / "null").symlink_to("/dev/null")
    write(tmp_path / "null", "text")

    assert ((tmp_path / "there" / "a.txt").read_text(), (tmp_path / "null").is_char_device()) == ("text", True)


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(
        CannotWriteError, match=r"no/a.txt cannot be written: No such file or directory. Choose another"
    ):
        write(tmp_path / "no" / "a.txt", "text")


@pytest.fixture
def material(tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "server.log").write_text("a line\n")
    (folder / "grafana.html").write_text("<html>a board</html>")
    (folder / "report.html").write_text("<html>mqlab</html>")
    (folder / "x.findings.json").write_text('{"of": "somebody"}')
    (tmp_path / "link.log").symlink_to(folder / "server.log")
    os.link(folder / "server.log", tmp_path / "hard.log")
    return tmp_path


@pytest.mark.parametrize("output", ["m/server.log", "m/../m/server.log", "link.log", "m/grafana.html", "m/x.html"])
def test_no_result_takes_the_place_of_material(material, output):
    with pytest.raises(OwnMaterialError, match="is a file of the material and stays as it is: choose another place"):
        refuse_material(material / output, [str(material / "m")])


def test_a_second_name_of_a_file_that_is_given_is_that_file(material):
    with pytest.raises(OwnMaterialError):
        refuse_material(material / "hard.log", [str(material / "m" / "server.log")])


@pytest.mark.parametrize("output", ["m/report.html", "m/new.txt", "elsewhere.log"])
def test_what_mqlab_wrote_and_what_is_not_there_may_be_written(material, output):
    refuse_material(material / output, [str(material / "m"), "-", "s3://bucket/key"])
