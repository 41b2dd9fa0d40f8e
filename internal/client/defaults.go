package client

// DefaultConfig is the configuration that the zero Config stands for.
func DefaultConfig() Config { return Config{}.withDefaults() }

// DefaultConsumerConfig is the configuration that the zero ConsumerConfig stands for.
func DefaultConsumerConfig() ConsumerConfig { return ConsumerConfig{}.withDefaults() }

// DefaultProducerConfig is the configuration that the zero ProducerConfig stands for.
func DefaultProducerConfig() ProducerConfig { return ProducerConfig{}.withDefaults() }
