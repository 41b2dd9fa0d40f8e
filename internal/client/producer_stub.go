package client

import (
	"context"
	"mqctl/internal/stats"
)

const defaultTopicQueues = 4

type ProducerConfig struct{ Group string }
type Producer struct{ cfg ProducerConfig }

func (p *Producer) topics() []string                { return nil }
func (p *Producer) snapshot() stats.Producer        { return stats.Producer{} }
func (p *Producer) Close(ctx context.Context) error { return nil }
