"""The chip that holds the run shown against the reference, which is found beside the window."""

from __future__ import annotations

from functools import partial

from workbench.run.record import RunRecord
from workbench.ui.work import Work
from workbench.words.reference import reference_remark
from workbench.words.remarks import Remark


class ReferenceChip:
    """What is to be said of the run that was looked at last beside the reference; nothing without one."""

    def __init__(self) -> None:
        self.remark: Remark | None = None
        self._reference: RunRecord | None = None
        self._run: RunRecord | None = None
        self._work: Work[Remark] = Work()

    @property
    def is_busy(self) -> bool:
        """Whether something is still being found."""
        return self._work.is_busy

    def set_reference(self, reference: RunRecord | None) -> None:
        """Hold runs against `reference` from now on, or against none."""
        self._reference = reference
        self._ask()

    def look_at(self, run: RunRecord) -> None:
        """Hold `run` against it; while it goes on there is nothing to say."""
        self._run = run
        self._ask()

    def tick(self) -> bool:
        """Take what was found; says whether there was something."""
        found = self._work.taken()
        if found is not None:
            self.remark = found
        return found is not None

    def _ask(self) -> None:
        self.remark = None
        run, reference = self._run, self._reference
        if run is None or reference is None or run.end is None:
            self._work.forget()
        else:
            self._work.ask(partial(reference_remark, run, reference))
