"""Session files: what goes in comes out, whole or as a summary, and bad files are refused in one line."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels import VARIANTS, KernelVariant
from kernels.plain.tiles import TileConfig
from tests.samples import GPU, events_of, make_record, recorded_state
from workbench.run.ceilings import Ceilings
from workbench.run.device_state import COLUMNS, find_warnings
from workbench.run.environment import Provenance
from workbench.run.events import Checked, Comparison, Failed, Measured, Rechecked, Samples, TileStates
from workbench.run.library import Library, without_maps
from workbench.run.record import RunBuilder, RunRecord
from workbench.run.request import Problem, RunRequest
from workbench.run.session import Session, SessionError
from workbench.stats.arrays import FloatArray
from workbench.stats.modes import Modes
from workbench.stats.summary import Drift, Ratio


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path / "runs.tilescope")


def test_a_run_comes_back_whole(session: Session) -> None:
    record = session.add(make_record(7, tile=TileConfig(32, 64, 8, 2)))
    loaded = session.load(record.run_id)
    assert without_values(loaded) == without_values(record)
    for got, want in zip(arrays_of(loaded), arrays_of(record), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_what_was_known_of_the_kernel_is_kept_with_its_run(session: Session, variant: KernelVariant) -> None:
    record = make_record(1)
    session.add(replace(record, started=replace(record.started, kernel=variant.spec)))
    assert session.summaries()[0].started.kernel == variant.spec


def test_a_summary_has_every_sample_and_no_map(session: Session) -> None:
    record = make_record(1)
    session.add(record)
    (summary,) = session.summaries()
    kernel, original = summary.measurement("kernel"), record.measurement("kernel")
    assert kernel is not None and original is not None
    np.testing.assert_array_equal(kernel.latency.samples, original.latency.samples)
    assert summary.states is not None and summary.states.m_running is None
    assert all(check.error_map is None for check in summary.checked)


def test_infinite_errors_and_failures_come_back(session: Session) -> None:
    record = make_record(1)
    check = record.checked[0]
    wrong = replace(check, error=replace(check.error, max_abs=float("inf"), worst_got=float("nan"), passed=False))
    session.add(replace(record, checked=(wrong,)))
    session.add(make_record(2, failure=Failed("resources", "too much", "less", "trace")))
    error = session.load(1).checked[0].error
    assert error.max_abs == float("inf") and np.isnan(error.worst_got) and not error.passed
    assert session.load(2).end == Failed("resources", "too much", "less", "trace")


def test_every_writer_gets_a_number_of_its_own(session: Session) -> None:
    with ThreadPoolExecutor(6) as pool:
        kept = list(pool.map(lambda seed: Session(session.path).add(make_record(seed)).run_id, range(1, 13)))
    assert sorted(kept) == list(range(1, 13))
    assert len(session.summaries()) == 12


def test_what_is_saved_as_a_recording_is_only_read_and_a_copy_goes_on(session: Session, tmp_path: Path) -> None:
    session.add(make_record(1))
    library = Library(session)
    recording, copy = Session(tmp_path / "r.tilescope"), Session(tmp_path / "c.tilescope")
    assert library.save_copy(recording.path, sealed=True).runs == 1 == library.save_copy(copy.path).runs
    before = recording.path.read_bytes()
    with pytest.raises(SessionError, match="is a recording"):
        recording.add(make_record(2))
    assert recording.load(1).run_id == 1 and recording.path.read_bytes() == before
    assert [run.run_id for run in library.open_recording(recording.path)] == [1]
    assert copy.add(make_record(2)).run_id == 2 == session.add(make_record(2)).run_id


def test_a_session_without_runs_makes_no_recording(session: Session, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="has no runs yet"):
        Library(session).save_copy(tmp_path / "r.tilescope", sealed=True)
    assert list(tmp_path.iterdir()) == []


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("create table theirs (x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(SessionError, match="another program"):
        Session(path).add(make_record(1))
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["substr(arrays, 1, 100)", "x'00112233445566778899'", "'text'", "zeroblob(0)"])
def test_damaged_maps_are_named(session: Session, damage: str) -> None:
    session.add(make_record(1))
    with sqlite3.connect(session.path) as db:
        db.execute(f"update runs set arrays = {damage}")
    db.close()
    with pytest.raises(SessionError) as refused:
        session.load(1)
    assert str(refused.value) == "the maps of run 1 in runs.tilescope are damaged", "not NumPy's word of pickles"
    assert len(session.summaries()) == 1, "its times are there all the same"


def test_maps_of_another_run_are_no_maps_of_this_one(session: Session) -> None:
    session.add(make_record(1))
    session.add(make_record(2, failure=Failed("launch", "no luck")))
    session.add(make_record(3, Problem(8, 16, 8)))
    with sqlite3.connect(session.path) as db:
        whole = "(select arrays from runs where id = {})"
        db.execute(f"update runs set arrays = {whole.format(1)} where id = 3")
        db.execute(f"update runs set arrays = {whole.format(2)} where id = 1")
    db.close()
    with pytest.raises(SessionError, match=r"the maps of run 1 in runs\.tilescope lack a0, a1"):
        session.load(1)
    with pytest.raises(SessionError, match="damaged run 3: the error map of article is of another shape"):
        session.load(3)


def test_the_ceilings_of_a_run_are_kept_with_it_and_must_be_rates(session: Session) -> None:
    record = make_record(1)
    known = Ceilings("GPU", "1", "2", "2026-11-30T12:00:00", 4e12, warnings=("throttled",))
    session.add(replace(record, started=replace(record.started, ceilings=known)))
    assert session.summaries()[0].started.ceilings == known
    session.add(replace(record, started=replace(record.started, ceilings=replace(known, copy_bytes_per_s=0.0))))
    assert "damaged run 2: the device's ceilings are no rates" in damage_of(session.summaries()[1])


@pytest.mark.parametrize(
    ("pattern", "put", "words"),
    [
        (r'"\$samples": \[[^]]*\]', '"$samples": []', "the kernel has no samples"),
        (r'"\$samples": \[[^,]*,', '"$samples": [NaN,', "a sample of the kernel is nan us"),
        (r'"\$samples": \[[^,]*,', '"$samples": [-755.0,', "a sample of the kernel is -755 us"),
        (r'"\$samples": \[[^,]*,', '"$samples": [Infinity,', "a sample of the kernel is inf us"),
        (r'"\$samples": \[[^]]*\]', '"$samples": [0.0, 0.0, 3.0]', "a fifth of the kernel's samples are 0"),
        (r'"d": 64', '"d": "64"', r"started.request.problem.d is '64'"),
        (r'"d": 64', '"d": 0', "d is 0, and cannot be below 1"),
        (r'"block_n": 16', '"block_n": null', "started.request.tile.block_n is None"),
        (r'"passed": true', '"passed": "yes"', "error.passed is 'yes'"),
        (r'"block_average_us": [0-9.]+', '"block_average_us": -1.0', "the kernel's block average is -1 us"),
        (r'"worst": \[[^]]*\]', '"worst": [1]', r"error.worst is \(1,\)"),
        (r'"started_at": "[^"]*"', '"started_at": 7', "started.started_at is 7"),
    ],
)
def test_a_run_that_cannot_be_is_refused_in_one_line(session: Session, pattern: str, put: str, words: str) -> None:
    """Whoever edits a file, or whatever damages it: it is not drawn, and not believed."""
    session.add(make_record(1))
    with sqlite3.connect(session.path) as db:
        (text,) = db.execute("select record from runs").fetchone()
        changed = re.sub(pattern, lambda found: put, text)
        assert changed != text
        db.execute("update runs set record = ?", (changed,))
    db.close()
    with pytest.raises(SessionError, match=f"runs.tilescope holds a damaged run 1: .*{words}") as refused:
        session.load(1)
    assert "\n" not in str(refused.value)
    (listed,) = session.summaries()
    assert damage_of(listed) == str(refused.value) and not listed.measured


def test_rounds_begin_within_the_samples(session: Session) -> None:
    record = make_record(1, protocol="cold")
    kernel, baseline = record.measured
    for starts in ([0, 5, 5], [1, 2], [0, 50]):
        latency = replace(kernel.measurement.latency, round_starts=np.array(starts, dtype=np.int64))
        number = session.add(
            replace(record, measured=(Measured(replace(kernel.measurement, latency=latency)), baseline))
        ).run_id
        with pytest.raises(SessionError, match=r"the kernel's (last round|rounds)"):
            session.load(number)


def test_a_word_of_a_later_version_is_no_damage(session: Session) -> None:
    record = make_record(1, device_state=recorded_state("throttled"), failure=None)
    session.add(record)
    session.add(make_record(2, failure=Failed("compile", "no")))
    with sqlite3.connect(session.path) as db:
        db.execute("""update runs set record = replace(record, '"kind": "power"', '"kind": "moonshine"')""")
        db.execute("""update runs set record = replace(record, '"kind": "compile"', '"kind": "novelty"')""")
    db.close()
    first, second = session.summaries()
    assert first.device_state is not None and "moonshine" in [warning.kind for warning in first.device_state.warnings]
    assert isinstance(second.end, Failed) and str(second.end.kind) == "novelty"


def test_a_recording_is_never_written(session: Session) -> None:
    session.add(make_record(5))
    session.path.chmod(0o444)
    recording = Session(session.path, read_only=True)
    assert recording.load(1).source == "runs"
    with pytest.raises(SessionError, match="not a session"):
        recording.add(make_record(2))
    assert list(session.path.parent.iterdir()) == [session.path], "reading leaves no journal beside it"


def test_files_that_are_no_sessions_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.tilescope"
    text.write_text("not a database" * 100, encoding="utf-8")
    other = tmp_path / "other.tilescope"
    with sqlite3.connect(other) as db:
        db.execute("create table meta (name text primary key, value text)")
        db.execute("insert into meta values ('format', '99')")
    db.close()
    for path in (text, other, tmp_path / "missing.tilescope", tmp_path):
        with pytest.raises(SessionError) as refused:
            Session(path, read_only=True).summaries()
        assert path.name in str(refused.value) and "\n" not in str(refused.value)
        assert not any(raw in str(refused.value).replace(str(path), "") for raw in RAW_WORDS), refused.value


def test_a_damaged_record_is_named(session: Session) -> None:
    session.add(make_record(1))
    with sqlite3.connect(session.path) as db:
        db.execute('update runs set record = \'{"$type": "Surprise"}\'')
    db.close()
    with pytest.raises(SessionError, match="Surprise"):
        session.load(1)


# What becomes of a run's text in its file, as SQL: by another program, by a disk, by a hand.
DAMAGES = {
    "not text": "cast(x'fffe00' as text)",
    "a blob": "x'fffe'",
    "a number": "7",
    "empty": "''",
    "cut short": "substr(record, 1, 900)",
    "no object": "'[1, 2]'",
    "another object": """'{"$type": "Surprise"}'""",
    "without what was asked for": """replace(record, '"started"', '"begun"')""",
    "of deep nesting": """replace(hex(zeroblob(50000)), '00', '[')""",
    "of another kind": """replace(record, '"measured": [', '"measured": [7, ')""",
    "with a problem that cannot be": """replace(record, '"d": 64', '"d": -64')""",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_run_costs_no_other_one(session: Session, damage: str) -> None:
    """Whatever happened to its row: the others are listed and can be opened, and it says in words what it is."""
    for number in (1, 2, 3):
        session.add(make_record(number, device=GPU))
    with sqlite3.connect(session.path) as db:
        db.execute(f"update runs set record = {damage} where id = 2")
    db.close()
    for runs in (session.summaries(), Library(session).records()):
        assert [run.run_id for run in runs] == [1, 2, 3]
        said = damage_of(runs[1])
        assert said.startswith("runs.tilescope holds a damaged run 2: ") and "\n" not in said
        assert not any(raw in said for raw in RAW_WORDS), said
        assert runs[1].has_nothing and [bool(run.measured) for run in runs] == [True, False, True]
    assert session.load(3).measured
    with pytest.raises(SessionError, match="damaged run 2"):
        session.load(2)


def test_a_damaged_run_says_what_was_asked_for_where_that_can_be_read(session: Session) -> None:
    record = session.add(make_record(1))
    with sqlite3.connect(session.path) as db:
        db.execute(f"update runs set record = {DAMAGES['of another kind']}")
    db.close()
    (damaged,) = session.summaries()
    assert damaged.started.request == record.started.request and not damaged.is_unreadable


def damage_of(record: RunRecord) -> str:
    assert isinstance(record.end, Failed) and record.end.kind == "damaged"
    return record.end.message


RAW_WORDS = (
    "sqlite",
    "SQL",
    "UTF-8",
    "utf-8",
    "codec",
    "database",
    "NoneType",
    "object",
    "Expecting",
    "column",
    "byte",
)


def test_a_field_of_a_later_version_is_left_out(session: Session) -> None:
    session.add(make_record(1))
    with sqlite3.connect(session.path) as db:
        db.execute('update runs set record = replace(record, \'"run_id":\', \'"novelty": 1, "run_id":\')')
    db.close()
    assert session.load(1).run_id == 1


def test_heads_and_splits_come_back(session: Session) -> None:
    record = make_record(1, Problem(20, 40, 8, batch=2, heads=4, kv_heads=2, dtype="fp16", causal=True))
    assert record.states is not None and record.states.m_tile is not None and record.states.m_tile.shape[0] == 8
    few = {name: getattr(record.states, name)[[0, 1, 7]] for name in ("m_tile", "m_running", "l_running")}
    states = replace(record.states, heads=(0, 1, 7), split_tiles=2, **few)
    check = record.checked[0]
    assert check.error_map is not None
    error = replace(check.error, worst=(5, 1, 2), rows_left_out=3)
    kept = replace(check, heads=(0, 5), error=error, error_map=check.error_map[[0, 5]])
    session.add(replace(record, checked=(kept,), states=states))
    loaded = session.load(1)
    assert loaded.started.request.problem == record.started.request.problem
    assert loaded.checked[0].heads == (0, 5) and loaded.checked[0].error == kept.error
    assert loaded.states is not None and (loaded.states.heads, loaded.states.split_tiles) == ((0, 1, 7), 2)


def test_what_was_found_about_the_times_and_the_device_comes_back(session: Session) -> None:
    record = make_record(1, protocol="cold", device_state=recorded_state("throttled"))
    kernel, baseline = record.measured
    found = replace(
        kernel.measurement.latency,
        modes=Modes((40.0, 60.0), (0.8, 0.2)),
        drift=Drift(0.02),
        kernel_us=39.0,
        kernel_names=("attend", "combine"),
    )
    record = replace(
        record,
        started=replace(record.started, provenance=Provenance("kernels/article.py", "abc+", "0" * 64, 700.0)),
        measured=(Measured(replace(kernel.measurement, latency=found)), baseline),
        comparison=Comparison(Ratio(0.5, 0.0, float("inf"))),
        rechecked=(Rechecked("kernel", 1e-7, 1e-7, False, None, "other bits", True),),
    )
    session.add(record)
    loaded = session.load(1)
    assert loaded.started.provenance == record.started.provenance
    assert (loaded.comparison, loaded.rechecked) == (record.comparison, record.rechecked) and not loaded.passed
    again = loaded.measured[0].measurement.latency
    for name in ("modes", "drift", "kernel_us", "kernel_names", "interval", "ended_by", "rounds", "flush_bytes"):
        assert getattr(again, name) == getattr(found, name), name
    assert again.round_starts.dtype == np.int64
    np.testing.assert_array_equal(again.round_starts, found.round_starts)
    assert loaded.device_state is not None and record.device_state is not None
    assert loaded.device_state.warnings == record.device_state.warnings != ()
    trace, original = loaded.device_state.readings, record.device_state.readings
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(trace, column), getattr(original, column))
    assert (trace.facts, trace.timed, trace.processes) == (original.facts, original.timed, original.processes)
    assert find_warnings(trace) == loaded.device_state.warnings, "it can be judged anew"


def test_a_builder_collects_what_was_said_of_the_times() -> None:
    record = make_record(1, protocol="warm", device_state=recorded_state("shared"))
    builder = RunBuilder(record.started.request)
    for event in events_of(record):
        builder.take(event)
    built = builder.record()
    assert built.comparison == record.comparison is not None and built.rechecked == record.rechecked != ()
    assert built.device_state is record.device_state and built.passed


def test_a_stopped_run_keeps_the_samples_it_has() -> None:
    record = make_record(1)
    builder = RunBuilder(record.started.request)
    builder.take(record.started)
    builder.take(record.checked[0])
    for values in ([1.0, 2.0], [3.0]):
        builder.take(Samples("kernel", np.array(values)))
    builder.take(Failed("cancelled", "stopped"))
    kept = builder.record()
    assert kept.partial[0].values.tolist() == [1.0, 2.0, 3.0]
    assert [type(e).__name__ for e in events_of(kept)] == ["Started", "Checked", "Samples", "Failed"]


def test_a_run_whose_engine_never_started_is_a_record_too() -> None:
    builder = RunBuilder(RunRequest(Problem(1, 1, 1), device="cuda"))
    builder.take(Failed("invalid", "no GPU"))
    record = builder.record()
    assert record.started.device.name == "no device" and record.started.device.mode == "unknown"
    assert record.end == Failed("invalid", "no GPU")


def test_a_library_saves_its_own_runs_and_not_the_recordings(tmp_path: Path) -> None:
    recording = Session(tmp_path / "recording.tilescope")
    recording.add(make_record(1))
    library = Library(Session(tmp_path / "own.tilescope"))
    library.open_recording(recording.path)
    unsaved = make_record(1, tile=TileConfig(64, 64))
    library.add(unsaved, saved=False)
    target = tmp_path / "copy.tilescope"
    assert library.save_copy(target).runs == 1
    copy = Session(target).load(1)
    assert copy.started.request.tile == TileConfig(64, 64)
    assert copy.states is not None and copy.states.l_running is not None
    with pytest.raises(SessionError, match="open in this window"):
        library.save_copy(library.session.path)


def test_a_number_is_not_given_again_when_the_file_was_taken_away(session: Session) -> None:
    assert not session.is_gone()
    session.add(make_record(1))
    session.add(make_record(2))
    session.path.unlink()
    assert session.is_gone()
    assert session.add(make_record(1)).run_id == 3 and not session.is_gone()
    again = Session(session.path)
    assert [run.run_id for run in again.summaries()] == [3]
    session.path.unlink()
    assert again.add(make_record(1)).run_id == 4


def test_what_can_still_be_read_is_saved_and_the_rest_named(session: Session, tmp_path: Path) -> None:
    library = Library(session)
    for number in (1, 2):
        library.add(session.add(make_record(number)), saved=True)
    session.path.unlink()
    library.add(session.add(make_record(3, tile=TileConfig(64, 64))), saved=True)
    target = tmp_path / "copy.tilescope"
    with pytest.raises(SessionError, match=r"saved 1 run\(s\) to .*copy.tilescope; no longer .* run 1, run 2$"):
        library.save_copy(target)
    assert [run.started.request.tile for run in Session(target).summaries()] == [TileConfig(64, 64)]
    session.path.unlink()
    target.unlink()
    with pytest.raises(SessionError, match="saved nothing; no longer in the session's file: run 1, run 2, run 3"):
        library.save_copy(target)
    assert list(tmp_path.glob("copy*")) == []


def test_a_folder_that_is_not_there_is_named_by_the_path_that_was_asked_for(session: Session, tmp_path: Path) -> None:
    session.add(make_record(1))
    target = tmp_path / "nowhere" / "copy.tilescope"
    with pytest.raises(SessionError, match=f"^{re.escape(str(target))} cannot be written: "):
        Library(session).save_copy(target)


def test_opening_a_recording_twice_lists_it_once(tmp_path: Path) -> None:
    recording = Session(tmp_path / "r.tilescope")
    recording.add(make_record(1))
    library = Library(Session(tmp_path / "own.tilescope"))
    library.open_recording(recording.path)
    library.open_recording(recording.path)
    assert len(library.records()) == 1


def test_recordings_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """By the folder that they lie in; each is read from its own file."""
    library = Library(Session(tmp_path / "own.tilescope"))
    paths = [tmp_path / folder / "r.tilescope" for folder in ("a", "b", "x/b")]
    paths.append(tmp_path / "a" / "r.old")
    for number, path in enumerate(paths, 1):
        path.parent.mkdir(parents=True, exist_ok=True)
        Session(path).add(make_record(number, tile=TileConfig(16 * number, 16)))
        library.open_recording(path)
    library.open_recording(tmp_path / "b" / "." / "r.tilescope")
    records = {record.source: record for record in library.records()}
    assert sorted(records) == ["r", "r (a)", "r (b)", "r (x/b)"] and len(library.records()) == 4
    for source, block_m in (("r", 16), ("r (b)", 32), ("r (x/b)", 48), ("r (a)", 64)):
        assert library.load(records[source]).started.request.tile.block_m == block_m
    with pytest.raises(SessionError, match="open in this window"):
        library.save_copy(paths[0])


def test_the_recordings_in_assets_can_be_read() -> None:
    paths = sorted(RECORDINGS.glob("*.tilescope"))
    assert len(paths) == 2
    for path in paths:
        recording = Session(path, read_only=True)
        with pytest.raises(SessionError, match="is a recording"):
            Session(path).check()
        assert b'File \\"/' not in path.read_bytes(), "a traceback names a folder of the machine it comes from"
        for summary in recording.summaries():
            assert summary.started.device.mode == "cuda"
            whole = recording.load(summary.run_id)
            assert isinstance(whole.end, Failed) or (whole.states is not None and whole.states.bit_equal)
            watched = whole.device_state is not None and len(whole.device_state.readings.t) > 2
            assert watched == (whole.started.ceilings is not None) == (path.stem == "h200-watched")
            if watched:
                continue
            # They were made when the tile was a class of the model's, and every array held every head.
            assert isinstance(whole.started.request.tile, TileConfig) and whole.started.request.auto_tile == ()
            assert whole.started.request.tile.label.startswith(str(whole.started.request.tile.block_m))
            # And when times had no interval, and nobody watched the device.
            assert whole.started.provenance == Provenance() and whole.device_state is None and whole.rechecked == ()
            for measured in whole.measured:
                latency = measured.measurement.latency
                assert (latency.interval, latency.ended_by, latency.launch_bound) == (None, "fixed", "")
                assert len(latency.round_starts) == latency.rounds == 0 and latency.protocol == "block"
            assert all(check.heads == () and check.error_map is not None for check in whole.checked)
            assert whole.states is None or (whole.states.heads == () and whole.states.split_tiles == 0)


RECORDINGS = Path(__file__).resolve().parents[2] / "assets" / "recordings"


def arrays_of(record: object) -> list[FloatArray]:
    from workbench.run.codec import encode
    from workbench.run.record import RunRecord

    assert isinstance(record, RunRecord)
    return list(encode(record)[1].values()) + [m.measurement.latency.samples for m in record.measured]


def without_values(record: object) -> object:
    """What can be compared with ==."""
    from workbench.run.record import RunRecord

    assert isinstance(record, RunRecord)
    bare = without_maps(record)
    nothing: Any = None  # arrays have no truth value
    measured = [
        replace(m.measurement, latency=replace(m.measurement.latency, samples=nothing, round_starts=nothing))
        for m in bare.measured
    ]
    assert isinstance(bare.states, TileStates) and all(isinstance(c, Checked) for c in bare.checked)
    return bare.run_id, bare.started, bare.checked, measured, bare.states, bare.end
