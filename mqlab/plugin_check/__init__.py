"""What is around plug-ins: beginning one (`example`), and trying it (`mqlab plugin check`)."""
