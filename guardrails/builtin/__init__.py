"""The shipped guardrails, one per file; each says what it catches, what it misses and what it costs."""
