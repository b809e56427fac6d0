import fuzz


def test_no_mutant_of_a_real_file_breaks_a_kernel(tmp_path):
    """Bad input gives an answer or an ApplierError, read or replayed; `make fuzz` takes 10,000 mutants."""
    assert fuzz.run(0, 200, tmp_path) == []


def test_mutants_are_damaged_and_always_the_same():
    made = [fuzz.mutant(number) for number in range(50)]
    assert made == [fuzz.mutant(number) for number in range(50)]
    assert sum(data in fuzz._sources() for data in made) < 5


def test_the_files_that_are_damaged_are_whole_before(tmp_path):
    """Else the fuzzer would not get past what it did itself; all but the last event count, down to the page's end."""
    for number, data in enumerate(fuzz._sources()):
        path = tmp_path / f"binlog.{number:06d}"
        path.write_bytes(data)
        assert len(data) % fuzz.PAGE == 0
        assert fuzz.read(path, number) == "ok" or fuzz.SOURCES[number] == "mariadb-old-temporal"
        assert fuzz.replay(path, number) == "ok"


def test_what_breaks_is_named_and_kept(tmp_path, monkeypatch):
    """The child dies of a mutant that cannot be made: the run names it, and goes on after it."""
    monkeypatch.setattr(fuzz, "__file__", str(tmp_path / "stand_in.py"))
    (tmp_path / "stand_in.py").write_text(
        "import os, pathlib, sys\nfirst, last, folder = int(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])\n"
        "for number in range(first, last):\n"
        "    (folder / 'done').write_text(str(number))\n"
        "    if number in (3, 5):\n        os.abort()\n")
    broken = fuzz.run(0, 8, tmp_path)
    assert [line.split(":")[0] for line in broken] == ["mutant 3", "mutant 5"]
