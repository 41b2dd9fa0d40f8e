package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRealTests(t *testing.T) {
	dir := t.TempDir()
	source := `package p

import "testing"

func TestDirect(t *testing.T)   { k := testcluster.New(t); _ = k }
func TestIndirect(t *testing.T) { rig(t) }
func TestTable(t *testing.T)    { for _, f := range table { f(t) } }
func TestVirtual(t *testing.T)  { testcluster.Virtual(t, 1) }
func TestUnit(t *testing.T)     { other(t) }
func TestMain(m *testing.M)     { rig(nil) }

var table = []func(*testing.T){func(t *testing.T) { deeper(t) }}

func rig(t *testing.T)    { deeper(t) }
func deeper(t *testing.T) { testcluster.New(t) }
func other(t *testing.T)  { testcluster.NewSandbox(t) }
`
	if err := os.WriteFile(filepath.Join(dir, "p_test.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := realTests(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"TestDirect", "TestIndirect", "TestTable"}; !slices.Equal(got, want) {
		t.Errorf("realTests = %v, want %v", got, want)
	}
}
