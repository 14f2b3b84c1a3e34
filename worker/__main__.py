"""``python -m worker``: the worker as a process of its own, beside local servers."""

from worker.exit import leave_after
from worker.loading import loaded

if __name__ == "__main__":
    leave_after(loaded("worker.process").main)
