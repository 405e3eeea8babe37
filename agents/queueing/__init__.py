"""The policies of `queues`: who may schedule when, with local queues, a global one, or both."""
