package client

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestC02_NameServerList: both separators, blanks, names, IPv6; a bad item is named before anything is dialled.
func TestC02_NameServerList(t *testing.T) {
	for list, want := range map[string][]string{
		"localhost:9876; ns.invalid:9876": {"localhost:9876", "ns.invalid:9876"},
		"localhost:9876,127.0.0.1:9876":   {"localhost:9876", "127.0.0.1:9876"},
		" a:1 ;; b:2 , ":                  {"a:1", "b:2"},
		"[::1]:9876":                      {"[::1]:9876"},
	} {
		if got, err := ParseNameServers(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", list, got, err, want)
		}
	}
	for list, part := range map[string]string{
		"http://localhost:9876": "http://", "localhost": "localhost", ";;": ";;", "": "no address", "a:0": "port",
		"a:65536": "port", "a:b": "port", "::1:9876": "::1:9876", "a b:1": "blanks", ":9876": ":9876",
	} {
		if got, err := ParseNameServers(list); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %q, %v; want an error that names %q", list, got, err, part)
		}
	}
}

func TestValidateNames(t *testing.T) {
	long := strings.Repeat("x", 121)
	for _, bad := range []string{"", "a b", "a/b", "a.b", "订单", strings.Repeat("x", 128)} {
		if err := ValidateTopic(bad); !errors.Is(err, ErrInvalidName) {
			t.Errorf("topic %q: %v", bad, err)
		}
	}
	for _, good := range []string{"orders", "%RETRY%g", "a|b-c_d", long} {
		if err := ValidateTopic(good); err != nil {
			t.Errorf("topic %q: %v", good, err)
		}
	}
	if err := ValidateGroup(long); !errors.Is(err, ErrInvalidName) {
		t.Errorf("a group of 121 characters: %v", err)
	}
	if err := ValidateTopic("%DLQ%" + long); err != nil {
		t.Errorf("a dead-letter topic of 126 characters: %v", err)
	}
}
