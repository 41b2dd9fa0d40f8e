package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"mqctl/internal/protocol"
)

// localOffsets keeps a broadcasting member's offsets in a file, Java's LocalFileOffsetStore: same path, same format, so
// that a Java member of the same instance goes on where this one stopped.
type localOffsets struct {
	path string

	mu      sync.Mutex // guards offsets and dirty; never held while the file is written
	offsets map[protocol.MessageQueue]int64
	dirty   bool
	writing chan struct{} // capacity 1: one writer at a time
}

// openLocalOffsets reads <dir>/<ip>@<instance>/<group>/offsets.json, or its backup when the file is broken. A file that
// cannot be read at all is an error: beginning anew would repeat or skip without a word.
func openLocalOffsets(dir, instance, group string, log *slog.Logger) (*localOffsets, error) {
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("broadcasting offsets: %w", err)
		}
		dir = filepath.Join(home, ".rocketmq_offsets")
	}
	s := &localOffsets{
		path:    filepath.Join(dir, localIP().String()+"@"+instance, group, "offsets.json"),
		offsets: map[protocol.MessageQueue]int64{}, writing: make(chan struct{}, 1),
	}
	offsets, err := readOffsets(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		log.Warn("the offsets file is broken: its backup is read", "path", s.path, "err", err)
		if offsets, err = readOffsets(s.path + ".bak"); err != nil {
			return nil, fmt.Errorf("broadcasting offsets: %w (move %s away to begin anew)", err, s.path)
		}
	}
	s.offsets = offsets
	return s, nil
}

func readOffsets(path string) (map[protocol.MessageQueue]int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	body, err := protocol.DecodeResetOffsetBody(text) // the file has the shape of that body: {"offsetTable":{{queue}:offset}}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if body.OffsetTable == nil {
		return nil, fmt.Errorf("%s: no offsetTable", path)
	}
	return body.OffsetTable, nil
}

func (s *localOffsets) load(_ context.Context, mq protocol.MessageQueue) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if offset, ok := s.offsets[mq]; ok && offset >= 0 {
		return offset, nil
	}
	return 0, fmt.Errorf("%s in %s: %w", mq, s.path, ErrNoOffset)
}

// save notes an offset; flush writes the file once for all of them.
func (s *localOffsets) save(_ context.Context, mq protocol.MessageQueue, offset int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offsets[mq] = offset
	s.dirty = true
	return nil
}

func (s *localOffsets) remote() bool { return false }

// flush replaces the file atomically and keeps the one before as .bak, as Java does.
func (s *localOffsets) flush() error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.mu.Lock()
	body := &protocol.ResetOffsetBody{OffsetTable: map[protocol.MessageQueue]int64{}}
	for mq, offset := range s.offsets {
		body.OffsetTable[mq] = offset
	}
	dirty := s.dirty
	s.dirty = false
	s.mu.Unlock()
	if !dirty {
		return nil
	}
	if err := replaceFile(s.path, body.Encode()); err != nil {
		s.mu.Lock()
		s.dirty = true
		s.mu.Unlock()
		return fmt.Errorf("broadcasting offsets: %w", err)
	}
	return nil
}

// replaceFile writes text beside path, then moves the present file to .bak and the new one into its place.
func replaceFile(path string, text []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".offsets-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if old, readErr := os.ReadFile(path); readErr == nil {
		if err := os.WriteFile(path+".bak", old, 0o600); err != nil {
			return err
		}
	}
	return os.Rename(f.Name(), path)
}
