"""The audit on disk: who wrote, changed or read which memory, when and why; no content, and no user ids.

One chain of lines for each process, in a file that only this process writes. Each line has an HMAC over itself and the
one of the line before, so that none can be changed, moved or left out unnoticed by somebody without the tenant key.
"""
