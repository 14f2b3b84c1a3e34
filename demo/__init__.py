"""The demonstration: a real audit on real servers, killed twice, remembered, recalled and partly forgotten."""
