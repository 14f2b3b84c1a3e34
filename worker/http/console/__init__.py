"""The console: pages of what people look at and decide, each a thin door to the gateway, as every other route is."""
