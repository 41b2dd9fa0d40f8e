package protocol

import "strconv"

// Language is the language of a client or server, Java's LanguageCode; its value is the byte of the binary header.
type Language uint8

// The languages that releases up to 5.5 know.
const (
	LanguageJava Language = iota
	LanguageCPP
	LanguageDotNet
	LanguagePython
	LanguageDelphi
	LanguageErlang
	LanguageRuby
	LanguageOther
	LanguageHTTP
	LanguageGo
	LanguagePHP
	LanguageOMS
	LanguageRust
	LanguageNodeJS
)

var languageNames = [...]string{
	"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
}

// String is Java's name of the language, or its number when no release has named it.
func (l Language) String() string {
	if int(l) < len(languageNames) {
		return languageNames[l]
	}
	return strconv.Itoa(int(l))
}

// ParseLanguage is the language of that name. A name that is not known here becomes LanguageOther, since a peer of a
// later release must stay readable.
func ParseLanguage(name string) Language {
	for i, n := range languageNames {
		if n == name {
			return Language(i)
		}
	}
	return LanguageOther
}
