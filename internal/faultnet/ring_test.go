package faultnet

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestRingIsAByteQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring
		var model []byte
		next := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				p := make([]byte, rapid.IntRange(0, 100_000).Draw(t, "n"))
				for i := range p {
					next++
					p[i] = next
				}
				n := r.push(p)
				if want := min(len(p), bufferSize-len(model)); n != want {
					t.Fatalf("push took %d, want %d", n, want)
				}
				model = append(model, p[:n]...)
			},
			"pop": func(t *rapid.T) {
				p := make([]byte, rapid.IntRange(0, 100_000).Draw(t, "n"))
				n := r.pop(p)
				if n != min(len(p), len(model)) || !bytes.Equal(p[:n], model[:n]) {
					t.Fatalf("pop gave %d bytes that differ", n)
				}
				model = model[n:]
			},
			"invert": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
				r.invert(i)
				model[i] ^= 0xFF
			},
			"": func(t *rapid.T) {
				if r.size != len(model) || len(r.data) > bufferSize {
					t.Fatalf("size %d of %d, want %d", r.size, len(r.data), len(model))
				}
			},
		})
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	n := New()
	l, err := n.Listen(broker)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	client, err := n.Dial(b.Context(), broker)
	if err != nil {
		b.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 1024)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := client.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
	client.Close()
	<-done
	server.Close()
}
