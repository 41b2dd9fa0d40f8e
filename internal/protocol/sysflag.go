package protocol

// SysFlag is the system flag of a message, Java's MessageSysFlag.
type SysFlag int32

// The bits of a message's SysFlag.
const (
	FlagCompressed     SysFlag = 0x1
	FlagMultiTags      SysFlag = 0x2
	FlagTransPrepared  SysFlag = 0x4
	FlagTransCommit    SysFlag = 0x8
	FlagTransRollback  SysFlag = 0xC // both bits; also the mask of the two
	FlagBornHostV6     SysFlag = 0x10
	FlagStoreHostV6    SysFlag = 0x20
	FlagNeedUnwrap     SysFlag = 0x40
	FlagInnerBatch     SysFlag = 0x80
	compressionMask    SysFlag = 0x700
	flagCompressionLZ4 SysFlag = 0x100
	flagCompressionZst SysFlag = 0x200
	flagCompressionZlb SysFlag = 0x300
)

// Compression is how a body is packed, Java's CompressionType.
type Compression uint8

// The compressions of a body. Zlib is the one every client since 4.0 can read.
const (
	CompressNone Compression = iota
	CompressZlib
	CompressLZ4
	CompressZstd
)

// String is the name that flags and output use.
func (c Compression) String() string {
	return [...]string{"none", "zlib", "lz4", "zstd"}[c&3]
}

// Compression is how the body is packed by these bits. No type bits mean zlib: clients before 4.9.4 set none. ok is
// false for type bits that no release has defined.
func (f SysFlag) Compression() (c Compression, ok bool) {
	if f&FlagCompressed == 0 {
		return CompressNone, true
	}
	switch f & compressionMask {
	case 0, flagCompressionZlb:
		return CompressZlib, true
	case flagCompressionLZ4:
		return CompressLZ4, true
	case flagCompressionZst:
		return CompressZstd, true
	}
	return CompressNone, false
}

// WithCompression is f with the bits that announce c.
func (f SysFlag) WithCompression(c Compression) SysFlag {
	f &^= FlagCompressed | compressionMask
	switch c {
	case CompressZlib:
		return f | FlagCompressed | flagCompressionZlb
	case CompressLZ4:
		return f | FlagCompressed | flagCompressionLZ4
	case CompressZstd:
		return f | FlagCompressed | flagCompressionZst
	}
	return f
}

// PullSysFlag is the system flag of a pull request, Java's PullSysFlag.
type PullSysFlag int32

// The bits of a pull's sysFlag.
const (
	PullCommitOffset PullSysFlag = 1  // the request carries an offset to commit (master only)
	PullSuspend      PullSysFlag = 2  // hold the request while there is nothing to read
	PullSubscription PullSysFlag = 4  // filter by the request's subscription, not by the heartbeat's
	PullClassFilter  PullSysFlag = 8  // obsolete
	PullLite         PullSysFlag = 16 // lite pull
)
