package protocol

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

func benchmarkBody(b *testing.B, name string, decode func([]byte) (encoder, error)) {
	body := lastBody(b, name)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeRoute(b *testing.B) {
	benchmarkBody(b, "route_105_two_replicas_quoted", decoderOf(DecodeTopicRouteData))
}

func BenchmarkDecodeConsumeStats(b *testing.B) {
	benchmarkBody(b, "consume_stats_208", decoderOf(DecodeConsumeStats))
}

func BenchmarkDecodeRunningInfo(b *testing.B) {
	benchmarkBody(b, "running_info_307_java_client", decoderOf(DecodeConsumerRunningInfo))
}

func BenchmarkStrictJSON(b *testing.B) {
	body := lastBody(b, "running_info_307_java_client")
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := StrictJSON(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeHeartbeat(b *testing.B) {
	request, _ := fixture(b, "heartbeat_34")
	h, err := DecodeHeartbeatData(request.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Encode()
	}
}

func BenchmarkBatch32(b *testing.B) {
	messages := make([]Message, 32)
	for i := range messages {
		messages[i] = Message{Body: make([]byte, 1024), Properties: Properties{{"UNIQ_KEY", "7F0000010001C2E4A5F1000100000000"}, {"WAIT", "true"}}}
	}
	body, err := EncodeBatch(messages)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := EncodeBatch(messages); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := DecodeBatch(body); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCompression(b *testing.B) {
	body := bytes.Repeat([]byte(`{"order":12345,"state":"paid"},`), 256)
	for _, c := range packings {
		packed, err := Compress(c, 0, body)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("pack/"+c.String(), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := Compress(c, 0, body); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("unpack/"+c.String(), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := Decompress(c, packed, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUniqueID(b *testing.B) {
	g := NewUniqueIDs(netip.MustParseAddr("192.0.2.1"), 1, 2)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		g.Next(now)
	}
}

func BenchmarkOffsetID(b *testing.B) {
	addr := netip.MustParseAddrPort("192.0.2.1:10911")
	b.ReportAllocs()
	for b.Loop() {
		EncodeOffsetID(addr, 1<<30)
	}
}
