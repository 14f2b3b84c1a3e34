"""Memory: what is believed and why. Writing, recall, forgetting, and the one door through which every change passes."""
