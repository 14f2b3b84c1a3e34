"""Who may come in to a service: tokens of this installation, of this machine, and of an OpenID provider."""
