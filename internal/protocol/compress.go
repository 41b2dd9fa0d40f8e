package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// DefaultMaxBody is the largest unpacked body, in bytes, where nobody asked for another limit: four times what a broker
// stores by default.
const DefaultMaxBody = 16 << 20

// DefaultCompressLevel is the level that Java's producer uses for every compression.
const DefaultCompressLevel = 5

// Errors of packed bodies; each is wrapped with what was wrong.
var (
	// ErrBodyTooLarge means that a body unpacks to more than the limit. Nothing beyond the limit was kept in memory.
	ErrBodyTooLarge = errors.New("unpacked body is too large")
	// ErrDamagedBody means that a packed body is not a whole stream of its kind.
	ErrDamagedBody = errors.New("damaged packed body")
)

// Writers and readers hold tens of KiB each, so they are kept; a writer's level cannot be changed, hence one pool a level.
var (
	zlibWriters  [zlib.BestCompression + 1]sync.Pool
	zstdEncoders [zstd.SpeedBestCompression + 1]sync.Pool
	lz4Writers   = sync.Pool{New: func() any { return lz4.NewWriter(nil) }}
	zlibReaders  sync.Pool
	lz4Readers   = sync.Pool{New: func() any { return lz4.NewReader(nil) }}
	zstdReaders  sync.Pool
)

// Compress packs a body: zlib is an RFC 1950 stream, LZ4 and Zstd are frames. Level is 1 (fast) to 9 (small), 0 means
// DefaultCompressLevel; LZ4 knows but one. CompressNone returns body itself.
func Compress(c Compression, level int, body []byte) ([]byte, error) {
	if level == 0 {
		level = DefaultCompressLevel
	}
	if level < zlib.BestSpeed || level > zlib.BestCompression {
		return nil, fmt.Errorf("compression level %d is not in 1 to 9", level)
	}
	switch c {
	case CompressNone:
		return body, nil
	case CompressZlib:
		return compressZlib(level, body)
	case CompressLZ4:
		return compressLZ4(body)
	case CompressZstd:
		return compressZstd(level, body)
	}
	return nil, fmt.Errorf("unknown compression %d", c)
}

func compressZlib(level int, body []byte) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(body)/2+64))
	w, ok := zlibWriters[level].Get().(*zlib.Writer)
	if ok {
		w.Reset(out)
	} else {
		var err error
		if w, err = zlib.NewWriterLevel(out, level); err != nil {
			return nil, fmt.Errorf("zlib: %w", err)
		}
	}
	defer zlibWriters[level].Put(w)
	if err := writeAll(w, body); err != nil {
		return nil, fmt.Errorf("zlib: %w", err)
	}
	return out.Bytes(), nil
}

func compressLZ4(body []byte) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, len(body)/2+64))
	w := lz4Writers.Get().(*lz4.Writer)
	defer lz4Writers.Put(w)
	w.Reset(out)
	// Blocks of 64 KiB: the default of 4 MiB would take that much memory for the smallest body.
	if err := w.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ConcurrencyOption(1)); err != nil {
		return nil, fmt.Errorf("lz4: %w", err)
	}
	if err := writeAll(w, body); err != nil {
		return nil, fmt.Errorf("lz4: %w", err)
	}
	return out.Bytes(), nil
}

func writeAll(w io.WriteCloser, body []byte) error {
	if _, err := w.Write(body); err != nil {
		return err
	}
	return w.Close()
}

func compressZstd(level int, body []byte) ([]byte, error) {
	speed := zstd.EncoderLevelFromZstd(level)
	enc, ok := zstdEncoders[speed].Get().(*zstd.Encoder)
	if !ok {
		var err error
		// One encoder and no stream means no goroutines; a window of 1 MiB is enough for bodies of a few MiB.
		enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
	}
	defer zstdEncoders[speed].Put(enc)
	return enc.EncodeAll(body, make([]byte, 0, len(body)/2+64)), nil
}

// Decompress unpacks a stored body to at most limit bytes; 0 means DefaultMaxBody. A body that is larger is an
// ErrBodyTooLarge, a stream that is cut short, corrupt or of another kind an ErrDamagedBody. Memory is taken as output
// appears, besides an LZ4 block of up to 4 MiB or a Zstd window of up to 16 MiB, and never for the size that the stream
// claims. CompressNone returns stored itself.
func Decompress(c Compression, stored []byte, limit int) ([]byte, error) {
	if limit <= 0 {
		limit = DefaultMaxBody
	}
	if c == CompressNone {
		return stored, nil
	}
	if len(stored) == 0 { // the frame formats would pass it as no frames at all
		return nil, fmt.Errorf("%w: %s: no bytes", ErrDamagedBody, c)
	}
	var body []byte
	var err error
	switch c {
	case CompressZlib:
		body, err = decompressZlib(stored, limit)
	case CompressLZ4:
		r := lz4Readers.Get().(*lz4.Reader)
		defer lz4Readers.Put(r)
		r.Reset(bytes.NewReader(stored))
		body, err = readBody(r, len(stored), limit)
	case CompressZstd:
		body, err = decompressZstd(stored, limit)
	default:
		return nil, fmt.Errorf("unknown compression %d", c)
	}
	switch {
	case errors.Is(err, ErrBodyTooLarge):
		return nil, fmt.Errorf("%w: more than %d bytes from %d bytes of %s", ErrBodyTooLarge, limit, len(stored), c)
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrDamagedBody, c, err)
	}
	return body, nil
}

func decompressZlib(stored []byte, limit int) ([]byte, error) {
	src := bytes.NewReader(stored)
	r, ok := zlibReaders.Get().(io.ReadCloser)
	if ok {
		if err := r.(zlib.Resetter).Reset(src, nil); err != nil {
			zlibReaders.Put(r)
			return nil, err
		}
	} else {
		var err error
		if r, err = zlib.NewReader(src); err != nil {
			return nil, err
		}
	}
	defer zlibReaders.Put(r)
	return readBody(r, len(stored), limit)
}

// readBody reads r to its end. The buffer starts near the usual ratio and doubles, but never passes limit.
func readBody(r io.Reader, stored, limit int) ([]byte, error) {
	buf := make([]byte, 0, min(max(4*stored, 512), limit))
	for {
		if len(buf) == cap(buf) {
			if len(buf) >= limit {
				return buf, atEnd(r)
			}
			grown := make([]byte, len(buf), min(2*cap(buf), limit))
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			if cap(buf) > len(buf)+len(buf)/4 {
				buf = bytes.Clone(buf) // bodies wait in caches whose limits count their length
			}
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// atEnd tells a body of exactly the limit from a larger one; reading on also checks the stream's checksum.
func atEnd(r io.Reader) error {
	var one [1]byte
	_, err := io.ReadFull(r, one[:])
	switch err {
	case nil:
		return ErrBodyTooLarge
	case io.EOF:
		return nil
	}
	return err
}

// maxZstdWindow bounds the memory that a stream may ask its reader for, in bytes; level 19 asks for half of it.
const maxZstdWindow = 16 << 20

func decompressZstd(stored []byte, limit int) ([]byte, error) {
	r, ok := zstdReaders.Get().(*zstd.Decoder)
	if !ok {
		var err error
		// With a concurrency of 1 it reads in the caller's goroutine and starts none.
		r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
	}
	defer zstdReaders.Put(r)
	if err := r.Reset(bytes.NewReader(stored)); err != nil {
		return nil, err
	}
	body, err := readBody(r, len(stored), limit)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = ErrBodyTooLarge // a window of more than maxZstdWindow
	}
	return body, err
}
