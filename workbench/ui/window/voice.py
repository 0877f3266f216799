"""What the window says: the routine at its foot, what matters under the headline, and all of it in the log."""

from __future__ import annotations

from workbench.run.events import Failed, Log, Progress, Ready
from workbench.run.record import RunRecord
from workbench.ui.notices.bar import NoticeBar
from workbench.ui.notices.notice import Kind, Notice, Topic
from workbench.ui.window.stage import Stage
from workbench.ui.window.status import StatusBar
from workbench.ui.worker import EngineDown, Grown, Kept, OfCeilings, Rested
from workbench.words.names import kernel_text, tile_text
from workbench.words.results import failure_words

ROUTINE_MS = 8000


class Voice:
    """Says lines, and knows which event makes which message old."""

    def __init__(self, status: StatusBar, notices: NoticeBar, stage: Stage) -> None:
        self._status = status
        self._notices = notices
        self._stage = stage
        self._while = ""

    def say(self, text: str) -> None:
        """A line of the routine, which nobody has to read."""
        self._status.showMessage(text, ROUTINE_MS)
        self._stage.hear(Log(f"{text}\n"))

    def say_while(self, text: str) -> None:
        """The same, until `end_saying`: what is said is over then, and belongs in no log."""
        self._status.showMessage(text)
        self._while = text

    def end_saying(self) -> None:
        """What `say_while` said is over."""
        if self._while and self._status.currentMessage() == self._while:
            self._status.clearMessage()
        self._while = ""

    def tell(self, told: Notice | Topic) -> None:
        """A message that stands until it is dismissed or old; or with a topic alone, that its message is old."""
        self._notices.take(told)
        if isinstance(told, Notice):
            self._stage.hear(Log(f"{told.line}\n"))

    def warn_of_form(self, line: str) -> None:
        """Why the form runs nothing."""
        self.tell(Notice(Kind.WARNING, Topic.FORM, line))

    def report(self, details: str, line: str) -> None:
        """An error of the program, with its traceback."""
        self._stage.hear(Log(details))
        self.tell(Notice(Kind.ERROR, Topic.PROGRAM, line, details.strip()))

    def hear(self, told: Grown | Kept | Rested | OfCeilings | EngineDown | Ready | Progress | Log) -> None:
        """What the engine's thread tells: some of it matters, and some of it makes a message old."""
        match told:
            case Grown(event=None):
                for topic in (Topic.RUN, Topic.FORM, Topic.RESUME):
                    self.tell(topic)
            case Grown(record, Failed() as failure) if failure.kind != "cancelled":
                self.tell(_of_run(record, failure))
            case Kept():
                self._hear_kept(told)
            case OfCeilings(Progress()):
                self.tell(Topic.CEILINGS)
            case OfCeilings(Failed(kind=kind) as failure) if kind != "cancelled":
                self.tell(_of(failure, Topic.CEILINGS, f"The ceilings were not measured: {failure.message}"))
            case EngineDown(failure):
                self.tell(_of(failure, Topic.ENGINE, failure.message))
            case Ready():
                self.tell(Topic.ENGINE)

    def _hear_kept(self, kept: Kept) -> None:
        if kept.problem:
            line = f"{kept.problem} The run is held in memory: File > Save session as… keeps it."
            self.tell(Notice(Kind.ERROR, Topic.KEEPING, line))
        elif kept.note:
            self.tell(Notice(Kind.WARNING, Topic.FILE, kept.note))


def _of_run(record: RunRecord, failure: Failed) -> Notice:
    """Which run it was, since another may be shown by the time that it is read."""
    request = record.started.request
    what = f"{kernel_text(request.kernel, request.precision)} {tile_text(request.tile)}"
    return _of(failure, Topic.RUN, f"{what}, {failure_words(failure)}: {failure.message}")


def _of(failure: Failed, topic: Topic, line: str) -> Notice:
    details = (failure.message, failure.remedy, failure.traceback)
    return Notice(Kind.ERROR, topic, f"{line}. {failure.remedy}".strip(), "\n\n".join(filter(None, details)))
