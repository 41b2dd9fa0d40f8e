package main

import (
	"os"
	"runtime/debug"

	"mqctl/internal/client"
)

const (
	// gcPercent lets the heap grow fivefold between collections. The heap of a consumer that keeps up is a few MiB, and by
	// default it would be collected every few thousand messages: half of all the CPU that consuming takes.
	gcPercent = 400
	// heapBesides is what a process takes besides cached messages, in bytes.
	heapBesides = 56 << 20
)

// tuneCollector sets the garbage collector up for a process that caches up to cacheLimit bytes of messages (0: the
// engine's default): seldom while little is cached, and in time when the cache fills. GOGC and GOMEMLIMIT in the
// environment have their way.
func tuneCollector(cacheLimit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if cacheLimit == 0 {
		cacheLimit = client.DefaultCacheTotal
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(cacheLimit + cacheLimit/2 + heapBesides)
	}
}
