package faultnet

// ring is a byte queue that grows up to bufferSize.
type ring struct {
	data []byte
	head int // index of the oldest byte
	size int
}

// push appends what fits and returns how much that was.
func (r *ring) push(p []byte) int {
	n := min(len(p), bufferSize-r.size)
	r.grow(r.size + n)
	for todo := p[:n]; len(todo) > 0; {
		tail := (r.head + r.size) % len(r.data)
		end := len(r.data)
		if tail < r.head {
			end = r.head
		}
		done := copy(r.data[tail:end], todo)
		r.size += done
		todo = todo[done:]
	}
	return n
}

// grow makes room for need bytes in all.
func (r *ring) grow(need int) {
	if need <= len(r.data) {
		return
	}
	size := max(len(r.data), 4<<10)
	for size < need {
		size *= 2
	}
	data := make([]byte, size)
	n := copy(data, r.data[r.head:min(r.head+r.size, len(r.data))])
	copy(data[n:], r.data[:r.size-n])
	r.data, r.head = data, 0
}

// pop moves up to len(p) of the oldest bytes into p.
func (r *ring) pop(p []byte) int {
	n := min(len(p), r.size)
	done := copy(p[:n], r.data[r.head:])
	copy(p[done:n], r.data)
	r.size -= n
	if r.size == 0 {
		r.head = 0
	} else {
		r.head = (r.head + n) % len(r.data)
	}
	return n
}

// invert flips all bits of the byte at index i, counted from the oldest.
func (r *ring) invert(i int) { r.data[(r.head+i)%len(r.data)] ^= 0xFF }

// drop forgets everything and returns the memory.
func (r *ring) drop() { *r = ring{} }
