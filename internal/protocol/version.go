package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// MQVersion is a release as the headers carry it: the ordinal of Java's MQVersion.Version.
type MQVersion int32

// The releases at which behaviour changes.
const (
	Version400 MQVersion = 213
	// Version494 is the first release to which name servers send routes as standard JSON.
	Version494 MQVersion = 401
	Version500 MQVersion = 413
	Version550 MQVersion = 513
)

// CurrentVersion is what mqctl's own headers say: 5.5.0.
const CurrentVersion = 513

// From 4.0.0 on, Java's list has a snapshot and a release for each patch, ten patches a minor and ten minors a major.
const (
	ordinalsPerPatch = 2
	ordinalsPerMinor = 10 * ordinalsPerPatch
	ordinalsPerMajor = 10 * ordinalsPerMinor
)

// String is Java's name, such as V5_5_0 or V5_5_0_SNAPSHOT. Releases before 4.0 were numbered without a rule and print as
// "before V4_0_0 (ordinal 97)".
func (v MQVersion) String() string {
	n := int(v) - int(Version400)
	if n < -1 {
		return fmt.Sprintf("before V4_0_0 (ordinal %d)", int32(v))
	}
	suffix := ""
	if n%ordinalsPerPatch != 0 {
		n++
		suffix = "_SNAPSHOT"
	}
	return fmt.Sprintf("V%d_%d_%d%s", 4+n/ordinalsPerMajor, n%ordinalsPerMajor/ordinalsPerMinor, n%ordinalsPerMinor/ordinalsPerPatch, suffix)
}

// ParseMQVersion reads what String writes for 4.0.0 and later, and the plain form "5.5.0".
func ParseMQVersion(name string) (MQVersion, error) {
	text, snapshot := strings.CutSuffix(strings.TrimPrefix(name, "V"), "_SNAPSHOT")
	parts := strings.Split(strings.ReplaceAll(text, ".", "_"), "_")
	if len(parts) != 3 {
		return 0, fmt.Errorf("version %q is not of the form V5_5_0", name)
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 8)
		if err != nil || i > 0 && v > 9 || i == 0 && v < 4 {
			return 0, fmt.Errorf("version %q: no such release number %q", name, p)
		}
		n[i] = int(v)
	}
	v := int(Version400) + (n[0]-4)*ordinalsPerMajor + n[1]*ordinalsPerMinor + n[2]*ordinalsPerPatch
	if snapshot {
		v--
	}
	return MQVersion(v), nil
}
