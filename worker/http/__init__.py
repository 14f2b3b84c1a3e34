"""The HTTP service: a thin door. It reads a request, says who asks, calls the gateway, and has no rule of its own."""
