"""An engine that yields to nobody: one that does may get a hundredth of a busy core, and tests would wait for it."""

from __future__ import annotations

from multiprocessing.connection import Connection

from workbench.engine.host import child


def serve(connection: Connection, log: Connection, job_path: str, device: str, parent: int) -> None:
    """The child of a test's host: as any, but as important as the processes beside it."""
    child.YIELDING = 0
    child.serve(connection, log, job_path, device, parent)
