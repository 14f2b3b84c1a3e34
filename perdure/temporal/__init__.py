"""All that crosses into Temporal: names, data converter, failures, plugin. The only folder that imports its SDK."""
