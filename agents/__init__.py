"""Who decides: global schedulers, local schedulers and the brokers between them."""
