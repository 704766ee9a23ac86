"""Messages from an MQTT broker over a bridge to a log such as Kafka's, stage by stage."""
