"""The audit: who wrote, changed or read which memory, when and why. Written here, checked and shown; no content."""
