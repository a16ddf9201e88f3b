"""sardonyx, the ONNX front end."""
