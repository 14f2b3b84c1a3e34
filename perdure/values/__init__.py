"""Values: what is remembered, asked, done and answered, as every room passes it on. Pure: loads no server's client."""
