"""The audit on disk: who wrote, changed or read which memory, when and why; no content, and no user ids.

One chain of lines for each process, in a file that only this process writes. Each line has an HMAC over itself and the
one of the line before, so that nobody without the tenant key can change, move or leave one out unnoticed.
"""
