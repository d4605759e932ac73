"""Device plugins, and the devices that tests get by them."""
