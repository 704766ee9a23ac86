"""Groups of Kafka: members and their lives, releases, static members, records that are tried again and again."""
