"""The measuring side. No Qt here; torch and triton only in the child process."""
