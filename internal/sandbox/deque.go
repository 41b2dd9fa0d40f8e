package sandbox

// chunkSize is how many elements a deque allocates at once: small enough for thousands of idle queues, large enough that
// a queue of millions is not copied as a growing slice would be.
const chunkSize = 256

// deque is an append-only sequence that is forgotten from the front. Elements keep their absolute index, which is what a
// consume queue's offsets are.
type deque[T any] struct {
	first  int64 // index of the oldest element that is kept
	next   int64 // index of the next element to come
	skip   int64 // index of chunks[0][0], at or below first
	chunks []*[chunkSize]T
}

func (d *deque[T]) len() int64 { return d.next - d.first }

func (d *deque[T]) push(v T) {
	slot := d.next - d.skip
	if slot == int64(len(d.chunks))*chunkSize {
		d.chunks = append(d.chunks, new([chunkSize]T))
	}
	d.chunks[slot/chunkSize][slot%chunkSize] = v
	d.next++
}

// at is the element with the absolute index i, which must lie in [first, next).
func (d *deque[T]) at(i int64) *T {
	slot := i - d.skip
	return &d.chunks[slot/chunkSize][slot%chunkSize]
}

// trim forgets everything below index i. Beyond the end it leaves an empty sequence that goes on at i.
func (d *deque[T]) trim(i int64) {
	if i <= d.first {
		return
	}
	d.first = i
	if i >= d.next {
		d.next, d.skip, d.chunks = i, i, nil
		return
	}
	n := (i - d.skip) / chunkSize
	clear(d.chunks[:n]) // the array behind the slice must not keep them alive
	d.chunks = d.chunks[n:]
	d.skip += n * chunkSize
}

// search is the smallest index in [first, next) for which ok is true, given that ok turns true once and stays so; next
// when it never does.
func (d *deque[T]) search(ok func(*T) bool) int64 {
	lo, hi := d.first, d.next
	for lo < hi {
		mid := lo + (hi-lo)/2
		if ok(d.at(mid)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
