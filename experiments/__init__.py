"""What people run: scenarios, the command line, the live dashboard and the papers."""
