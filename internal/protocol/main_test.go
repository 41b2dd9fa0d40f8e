package protocol

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that nothing here, the compression libraries included, leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
