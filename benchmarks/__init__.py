"""What a call costs, as a ratio to the raw `openai` SDK doing the same work: `python -m benchmarks`."""
